import type { Environment } from '@suzumio/core/config/environment';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';

/**
 * The port at which handlers of external agents find the ToolHost; 0, which takes any free one, where it is not set.
 *
 * @throws SuzumioError `settings-invalid`
 */
export function workerPortOf(environment: Environment): number {
  const given = environment.SUZUMIO_TOOLHOST_WORKER_PORT;
  if (given === undefined || given === '') return 0;
  if (/^\d{1,5}$/.test(given) && Number(given) <= 65_535) return Number(given);
  throw new SuzumioError('settings-invalid', `SUZUMIO_TOOLHOST_WORKER_PORT is "${given}", not a port.`);
}
