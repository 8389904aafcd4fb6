import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { Candidate } from '@suzumio/core/budgets/presets';
import {
  allowedProvider,
  countedPrice,
  modelDenial,
  priceDenial,
  providerDenial,
} from '@suzumio/core/policy/check-provider';
import type { ToolhostContext } from '../context.js';

/** The candidates with the prices that their costs are computed with. */
export function withCountedPrices(
  context: ToolhostContext,
  project: string,
  candidates: readonly Candidate[],
): Candidate[] {
  const policy = context.policyOf(project);
  const dayBudget = context.dayLimitNanoUsd !== undefined;
  return candidates.map((candidate) => {
    const settings = { ...candidate.settings };
    const price = countedPrice(policy, candidate, { dayBudget });
    if (price) settings.price = price;
    else delete settings.price;
    return { ...candidate, settings };
  });
}

/**
 * Checks a candidate against the present policy, which may have changed since the project was created, before any key
 * is read.
 *
 * @throws SuzumioError `policy-denied`
 */
export function requireAllowed(context: ToolhostContext, project: string, candidate: Candidate): void {
  const { preset, settings, provider } = candidate;
  const policy = context.policyOf(project);
  const denied = modelDenial(policy, candidate);
  if (denied !== undefined) throw modelDenied(preset, denied);
  const denial = providerDenial(policy, provider);
  if (!denial) return;
  throw new SuzumioError(
    'policy-denied',
    `The policy does not allow provider "${settings.provider}" of preset ${preset}: ${denial.field}: ${denial.message} (policy: providers).`,
  );
}

/**
 * Refuses a candidate without a price where the day has a budget. A candidate that the policy denies is refused for
 * that instead.
 *
 * @throws SuzumioError `policy-denied`
 */
export function requireCounted(context: ToolhostContext, project: string, candidate: Candidate): void {
  const policy = context.policyOf(project);
  if (context.dayLimitNanoUsd === undefined || !allowedProvider(policy, candidate.provider)) return;
  const denied = modelDenial(policy, candidate) ?? priceDenial(policy, candidate);
  if (denied !== undefined) throw modelDenied(candidate.preset, denied);
}

function modelDenied(preset: string, why: string): SuzumioError {
  return new SuzumioError('policy-denied', `Preset ${preset} cannot be used: ${why} (policy: providers.models).`);
}
