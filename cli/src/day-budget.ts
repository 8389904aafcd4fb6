import type { Environment } from '@suzumio/core/config/environment';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';

/**
 * What all projects together may spend on models in a day, in dollars; undefined where it is not set.
 *
 * @throws SuzumioError `settings-invalid`
 */
export function dayBudgetOf(environment: Environment): number | undefined {
  const given = environment.SUZUMIO_BUDGET_USD_PER_DAY;
  if (given === undefined || given === '') return undefined;
  const budget = Number(given);
  if (Number.isFinite(budget) && budget >= 0) return budget;
  throw new SuzumioError('settings-invalid', `SUZUMIO_BUDGET_USD_PER_DAY is "${given}", not an amount in dollars.`);
}
