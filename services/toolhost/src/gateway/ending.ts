import { isSuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { Candidate } from '@suzumio/core/budgets/presets';
import { beginningOf } from '@suzumio/protocol/cut-text';
import type { Failure } from '@suzumio/protocol/failure-codes';
import type { DayBudget } from '@suzumio/core/budgets/day-budget';
import type { UnansweredCall } from '@suzumio/store/models/fail-model-call';
import { Negotiation } from './adaptation.js';
import type { ProviderFailure } from './provider-failure.js';
import type { Endpoint } from './provider-request.js';

/** A model that cannot be called now. */
export interface UnavailableModel {
  host: string;
  /** Its circuit, which the turn waits for. */
  circuit: string;
  untilMs: number;
  error: string;
  /** Whether the cell has ever connected to its host. */
  reached: boolean;
  /** Set where this call itself failed there, and did not just wait for others: how. */
  asked?: {
    /** Since when it has completed no answer. */
    sinceMs: number;
    mayBeItsFault: boolean;
    /** It was answered with something that is not understood. */
    unreadable: boolean;
  };
}

/** The day's budget has no room for another call. */
export class DayBudgetSpent extends Error {
  constructor(
    readonly day: DayBudget,
    message: string,
  ) {
    super(message);
  }
}

/** None of an agent's models can be called now. */
export class NoModelAvailable extends Error {
  /** @param refused what others have refused the question for, which do not answer later, either */
  constructor(
    readonly away: readonly UnavailableModel[],
    refused: readonly Error[] = [],
  ) {
    super([...away.map(({ host, error }) => `${host}: ${error}`), ...refused.map(({ message }) => message)].join('; '));
  }
}

/** A provider refused the request for good. */
export class ProviderRefused extends Error {
  constructor(
    readonly failure: ProviderFailure,
    readonly candidate: Candidate,
    readonly endpoint: Pick<Endpoint, 'baseURL'>,
    /** What others of the agent's models have refused the question for. */
    readonly others: readonly string[] = [],
  ) {
    super(`${new URL(endpoint.baseURL).host}, preset ${candidate.preset}: ${failure.message}`, { cause: failure });
  }
}

/** What is wrong with one model alone, and not with the question: its key, its region, its name, its account. */
const ofOneModel = new Set(['key-rejected', 'access-refused', 'model-unknown', 'quota-spent']);

/** Whether an error is one candidate's refusal, after which another one is asked. */
export function isRefusalOfOne(error: unknown): error is Error {
  if (isSuzumioError(error, 'provider-refused')) return true;
  return error instanceof ProviderRefused && error.failure.kind !== 'answer-too-large' && !error.failure.isAboutContent;
}

/** Refusals for the length of a question, the surest last. */
const ofLength = ['context-suspected', 'context-overflow'] as const;
type OfLength = (typeof ofLength)[number];

/** Whether a question was refused for its length. */
export function isOfLength(error: ProviderRefused): error is ProviderRefused & { failure: { kind: OfLength } } {
  return ofLength.some((kind) => kind === error.failure.kind);
}

/** The refusal of all candidates: that the question is too long, where all that have read it say so, or may mean it. */
export function refusalOfAll(refusals: readonly Error[]): Error {
  const refused = refusals.filter((one) => one instanceof ProviderRefused);
  const ofQuestion = refused.filter(({ failure }) => !ofOneModel.has(failure.kind));
  const [first = refused[0]] = ofQuestion.toSorted((a, b) => order(a) - order(b));
  if (!first) return refusals[0] ?? new Error('no model was asked');
  const others = refusals.filter((one) => one !== first).map(({ message }) => message);
  return new ProviderRefused(first.failure, first.candidate, first.endpoint, others);
}

function order({ failure }: ProviderRefused): number {
  return ofLength.findIndex((kind) => kind === failure.kind);
}

/** How a failed call ends its attempt. */
export interface Ending extends UnansweredCall {
  code: 'provider-unavailable' | 'provider-refused' | 'policy-denied' | 'budget-reached';
}

/** A host that was never reached is more likely a wrong address than an outage: turns wait no longer than this. */
const unreachedPatienceMs = 10 * 60_000;

/** How a call's error ends its attempt; undefined for an error of this process, which may pass. */
export function endingOf(error: unknown): Ending | undefined {
  if (error instanceof NoModelAvailable) return awaiting(error);
  if (error instanceof ProviderRefused) return refused(error);
  if (error instanceof DayBudgetSpent) {
    const { day, message } = error;
    return {
      failure: { code: 'day-budget-reached', message },
      code: 'budget-reached',
      wait: { provider: day.gate, untilMs: day.endsMs },
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

/** The models are asked again, in a later attempt, when the first of them may be. */
function awaiting({ away, message }: NoModelAvailable): Ending {
  const first = [...away].sort((a, b) => a.untilMs - b.untilMs)[0];
  const failure: Failure = { code: 'provider-unavailable', message: beginningOf(message, 2000) };
  return {
    failure,
    code: 'provider-unavailable',
    wait: first && {
      provider: first.circuit,
      untilMs: first.untilMs,
      asked: first.asked !== undefined,
      ...(away.some(({ reached }) => reached) ? {} : { patienceMs: unreachedPatienceMs }),
    },
    failedItself: failedItself(away),
  };
}

/** What a person can do about a refusal is said with it. */
function refused(error: ProviderRefused): Ending {
  const { provider, settings, preset } = error.candidate;
  const refusals = {
    'key-rejected': {
      code: 'provider-key-rejected',
      advice:
        provider.apiKeyEnv === undefined
          ? `look at apiKeyEnv, which the provider "${settings.provider}" does not name`
          : `look at the key in the server's variable ${provider.apiKeyEnv}`,
    },
    'access-refused': {
      code: 'provider-access-refused',
      advice: `the key may be right: look at what the provider serves where this server runs, and at the account of ${provider.apiKeyEnv ?? 'the provider'}`,
    },
    'quota-spent': {
      code: 'provider-quota-spent',
      advice: `the account of ${provider.apiKeyEnv ?? 'the provider'} has nothing left; top it up, then retry the agent`,
    },
    'model-unknown': {
      code: 'model-unknown',
      advice: `look at the model "${settings.model}" of preset ${preset}${settings.api === 'responses' ? ', and whether the provider has /responses at all' : ''}${addressAdvice(error)}`,
    },
    'answer-too-large': { code: 'answer-too-large', advice: `bound maxOutputTokens of preset ${preset}` },
    'schema-refused': {
      code: 'schema-refused',
      advice: `leave that tool out of the agent's tools, or have a model that takes its schema in place of preset ${preset}`,
    },
    'request-refused': {
      code: 'model-refused',
      advice: Negotiation.advice(error.failure, error.candidate) || `look at the settings of preset ${preset}`,
    },
  } as const;
  const refusal = refusals[error.failure.kind as keyof typeof refusals];
  return {
    failure: {
      code: refusal.code,
      message: beginningOf(
        [`${error.message.replace(/\.$/, '')}; ${refusal.advice}.`, ...error.others].join(' Also asked: '),
        2000,
      ),
    },
    code: 'provider-refused',
  };
}

/** Advice for an address without a version in its path: nearly all providers have one. */
function addressAdvice({ endpoint, candidate: { settings } }: ProviderRefused): string {
  if (/\/v\d/.test(new URL(endpoint.baseURL).pathname)) return '';
  return `; or at the baseURL of provider "${settings.provider}": it has no /v1, below which most servers answer`;
}

function failedItself(away: readonly UnavailableModel[]): UnansweredCall['failedItself'] {
  const failed = away.flatMap(({ asked }) => (asked?.mayBeItsFault === true ? asked.sinceMs : []));
  if (failed.length < away.length) return undefined;
  return { awaySinceMs: Math.min(...failed), unreadable: away.every(({ asked }) => asked?.unreadable === true) };
}
