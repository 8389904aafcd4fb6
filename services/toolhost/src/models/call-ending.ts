import { isSuzumioError } from '@suzumio/shared/errors/suzumio-error';
import type { Candidate } from '@suzumio/shared/model/presets';
import type { Failure } from '@suzumio/shared/protocol/failure-codes';
import type { ProviderFailure } from './provider-failure.js';

/** A provider that cannot be asked now. */
export interface Away {
  provider: string;
  untilMs: number;
  error: string;
}

/** None of an agent's models can be asked now. */
export class AllAway extends Error {
  constructor(readonly away: readonly Away[]) {
    super(away.map(({ provider, error }) => `${provider}: ${error}`).join('; '));
  }
}

/** A provider that answered that it will not. */
export class Refused extends Error {
  constructor(
    readonly failure: ProviderFailure,
    readonly candidate: Candidate,
    provider: string,
  ) {
    super(`${provider}, preset ${candidate.preset}: ${failure.message}`, { cause: failure });
  }
}

/** What becomes of an attempt whose question got no answer. */
export interface Ending {
  failure: Failure;
  code: 'provider-unavailable' | 'provider-refused' | 'policy-denied' | 'budget-reached';
  /** Where the turn waits for a provider: for which, and until when at least. */
  wait?: { provider: string; untilMs: number };
}

/** How a call's error ends its attempt; undefined for what is ours, and may go better another time. */
export function endingOf(error: unknown): Ending | undefined {
  if (error instanceof AllAway) {
    const first = [...error.away].sort((a, b) => a.untilMs - b.untilMs)[0];
    const failure: Failure = { code: 'provider-unavailable', message: error.message.slice(0, 2000) };
    return {
      failure,
      code: 'provider-unavailable',
      ...(first ? { wait: { provider: first.provider, untilMs: first.untilMs } } : {}),
    };
  }
  if (error instanceof Refused) {
    const { provider, settings, preset } = error.candidate;
    const refusals = {
      'key-rejected': {
        code: 'provider-key-rejected',
        advice: `look at the key in ${provider.apiKeyEnv ?? 'apiKeyEnv, which the provider does not name'}`,
      },
      'model-unknown': {
        code: 'model-unknown',
        advice: `look at the model "${settings.model}" of preset ${preset}${settings.api === 'responses' ? ', and whether the provider has /responses at all' : ''}`,
      },
      'answer-too-large': { code: 'answer-too-large', advice: `bound maxOutputTokens of preset ${preset}` },
      'request-refused': { code: 'model-refused', advice: `look at the settings of preset ${preset}` },
    } as const;
    const refusal = refusals[error.failure.kind as keyof typeof refusals];
    return {
      failure: { code: refusal.code, message: `${error.message}; ${refusal.advice}.`.slice(0, 2000) },
      code: 'provider-refused',
    };
  }
  if (isSuzumioError(error, 'provider-refused')) {
    return { failure: { code: 'provider-key-rejected', message: error.message }, code: 'provider-refused' };
  }
  if (isSuzumioError(error, 'policy-denied', 'budget-reached')) {
    const code = isSuzumioError(error, 'policy-denied') ? 'policy-denied' : 'budget-reached';
    return { failure: { code, message: error.message }, code };
  }
  return undefined;
}
