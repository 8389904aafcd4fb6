import { errorIn, errorOf, type ToldError } from './error-words.js';

/**
 * Why a provider gave no answer, by what follows from it.
 *
 * - `unavailable`: it is away, overloaded, over a limit of ours, or answers what is no answer; another may be asked, and
 *   later it
 * - `quota-spent`: the credit of the account is used up, and comes back only when it is topped up
 * - `key-rejected`, `model-unknown`, `request-refused`: it answered, and will answer the same again
 * - `context-overflow`: the conversation is too long for the model
 * - `answer-too-large`: the answer is longer than anything that an agent could mean
 */
export type ProviderFailureKind =
  | 'unavailable'
  | 'quota-spent'
  | 'key-rejected'
  | 'model-unknown'
  | 'request-refused'
  | 'context-overflow'
  | 'answer-too-large';

export class ProviderFailure extends Error {
  override readonly name = 'ProviderFailure';

  constructor(
    readonly kind: ProviderFailureKind,
    message: string,
    /** How long the provider asked us to wait. */
    readonly retryAfterMs?: number,
    private readonly options: {
      cause?: unknown;
      /** The status of HTTP that an error within an answer stands for. */
      status?: number;
    } = {},
  ) {
    super(message, options);
  }

  get status(): number | undefined {
    return this.options.status;
  }
}

/** What a failed answer says, read for the kind of failure. */
export interface FailedAnswer {
  status: number;
  retryAfter?: string | undefined;
  /** The beginning of the body. */
  body: string;
  nowMs: number;
}

/** Reads the failure from an answer that is none, with the provider's words as they are. */
export function failureOf({ status, retryAfter, body, nowMs }: FailedAnswer): ProviderFailure {
  const elsewhere = status >= 300 && status < 400 ? ', which points elsewhere and is not followed' : '';
  const how = `the provider answered ${status}${elsewhere}`;
  return failureFrom(status, errorIn(body), how, retryAfterMs(retryAfter, nowMs));
}

function failureFrom(
  status: number,
  { code, type, message }: ToldError,
  how: string,
  retryAfter?: number,
): ProviderFailure {
  const said = `${how}${message === '' ? '' : `: ${message}`}`;
  if (isOverflow(status, code, message)) return new ProviderFailure('context-overflow', said);
  if (status === 402 || spentCodes.has(code) || spentCodes.has(type)) return new ProviderFailure('quota-spent', said);
  // A 403 may be a region or an account that is not allowed; the key is what an operator looks at first.
  if (status === 401 || status === 403 || (status === 400 && isAboutKey(code, message))) {
    return new ProviderFailure('key-rejected', said);
  }
  if (status === 404 || code === 'model_not_found') return new ProviderFailure('model-unknown', said);
  if (status >= 500 && unreadable.test(message)) return new ProviderFailure('request-refused', said);
  if (status === 408 || status === 409 || status === 425 || status === 429 || status >= 500 || status < 400) {
    return new ProviderFailure('unavailable', said, retryAfter);
  }
  return new ProviderFailure('request-refused', type === '' ? said : `${said} (${type})`);
}

/** What a server of llama.cpp calls its own fault, and is one of the conversation. */
const unreadable = /failed to parse tool call arguments/i;

/** What providers call spent credit, where its status is that of a rate limit. */
const spentCodes = new Set(['insufficient_quota', 'billing_hard_limit_reached', 'billing_not_active']);

/** The status with which a provider sends an error of some code or type where it sends it before its answer. */
const statusOfCode: readonly (readonly [RegExp, number])[] = [
  [/api_?key|authentication|unauthorized|unauthenticated/i, 401],
  [/permission|forbidden|access_denied/i, 403],
  [/not_?found/i, 404],
  [/rate_?limit|quota|overloaded|too_?many_?requests|resource_?exhausted|throttl/i, 429],
  [/^(invalid_|image_|unsupported_|bio_policy|misalignment_policy|data_residency|content_policy)|^bad_?request/i, 400],
];

/**
 * Reads the failure from an error within an answer that began well: the status of the answer says nothing, but what it
 * holds does.
 */
export function failureWithin(sent: unknown): ProviderFailure {
  const error = errorOf(sent);
  const { code, type, message } = error;
  const meant = [code, type].flatMap((word) => statusOfCode.find(([pattern]) => pattern.test(word))?.[1] ?? []);
  const status = error.status ?? (isAboutLength(code, message) ? 400 : (meant[0] ?? 500));
  const failure = failureFrom(status, error, 'the provider broke off its answer');
  return new ProviderFailure(failure.kind, failure.message, failure.retryAfterMs, { status });
}

/** An error within an answer, which is to be asked for again when the answer's `Retry-After` says. */
export function askedToWait(failure: ProviderFailure, header: string | undefined, nowMs: number): ProviderFailure {
  const { kind, message, status, cause } = failure;
  const within = kind === 'unavailable' && status !== undefined;
  return within ? new ProviderFailure(kind, message, retryAfterMs(header, nowMs), { status, cause }) : failure;
}

/** `Retry-After` as seconds or a date; nothing where it is neither. */
export function retryAfterMs(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined) return undefined;
  if (/^\d+(\.\d+)?$/.test(header.trim())) return Math.round(Number(header) * 1000);
  const at = Date.parse(header);
  return Number.isNaN(at) ? undefined : Math.max(0, at - nowMs);
}

function isOverflow(status: number, code: string, message: string): boolean {
  if (status === 400 || status === 413 || status === 422) return isAboutLength(code, message);
  // A limit of tokens a minute that one question is beyond: no waiting helps, a shorter one does.
  if (status === 429) return /request too large/i.test(message);
  return status >= 500 && /context (length|window|size)/i.test(message);
}

function isAboutLength(code: string, message: string): boolean {
  return code === 'context_length_exceeded' || overflowWords.test(message);
}

/** What servers say of a conversation that is too long. */
const overflowWords =
  /context (length|window|size)|maximum context|too many tokens|exceeds? the (available )?context|maximum prompt length|(prompt|input) is too long|exceeds the maximum number of tokens|request too large/i;

function isAboutKey(code: string, message: string): boolean {
  return code === 'invalid_api_key' || /(incorrect|invalid) api key|api key not valid/i.test(message);
}
