import { errorIn, errorOf, type ToldError } from './error-words.js';

/**
 * Why a provider gave no answer, by consequence.
 *
 * - `unavailable`: unreachable, overloaded, over a rate limit, or an invalid answer; another provider may be tried, and
 *   this one later
 * - `quota-spent`: the account's credit is spent, until it is topped up
 * - `key-rejected`, `model-unknown`, `request-refused`: a repeated request would fail the same way
 * - `context-overflow`: the conversation is too long for the model
 * - `answer-too-large`: the answer is longer than any useful one
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
    /** The provider's `Retry-After`, in milliseconds. */
    readonly retryAfterMs?: number,
    private readonly options: {
      cause?: unknown;
      /** The HTTP status that an error within an answer stands for. */
      status?: number | undefined;
      /** Set where the provider objects to what the conversation contains. */
      content?: boolean | undefined;
      /** Set where something was answered that is not understood. */
      unreadable?: boolean | undefined;
    } = {},
  ) {
    super(message, options);
  }

  get status(): number | undefined {
    return this.options.status;
  }

  /** Whether the provider objects to what the conversation contains: another one is not asked then. */
  get isAboutContent(): boolean {
    return this.options.content === true;
  }

  /** Whether something was answered that is not understood. It may be better the next time, but not for ever. */
  get unreadable(): boolean {
    return this.options.unreadable === true;
  }
}

/** The failure of an answer that is not understood. */
export function unreadable(message: string): ProviderFailure {
  return new ProviderFailure('unavailable', message, undefined, { unreadable: true });
}

/** A failed response, from which the kind of failure is read. */
export interface FailedAnswer {
  status: number;
  retryAfter?: string | undefined;
  /** The beginning of the body. */
  body: string;
  nowMs: number;
}

/** Reads the failure from an unsuccessful response, with the provider's message unchanged. */
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
  // A 403 may concern a region or an account; the key is what an operator checks first.
  if (status === 401 || status === 403 || (status === 400 && isAboutKey(code, message))) {
    return new ProviderFailure('key-rejected', said);
  }
  if (status === 404 || code === 'model_not_found') return new ProviderFailure('model-unknown', said);
  if (status >= 500 && unreadByServer.test(message)) return new ProviderFailure('request-refused', said);
  if (status === 408 || status === 409 || status === 425 || status === 429 || status >= 500 || status < 400) {
    return new ProviderFailure('unavailable', said, retryAfter);
  }
  const content = contentWords.test(`${code} ${type} ${message}`);
  return new ProviderFailure('request-refused', type === '' ? said : `${said} (${type})`, undefined, { content });
}

/** How providers name an objection to what a conversation contains. */
const contentWords =
  /content.?(policy|filter|management|moderation)|(bio|misalignment|usage|safety).?polic|data_residency|safety (system|filter|setting)|moderation|flagged|prohibited|inappropriate|blocked by/i;

/** llama.cpp reports this as a server error, but the conversation causes it. */
const unreadByServer = /failed to parse tool call arguments/i;

/** Codes for spent credit, which some providers send with the status of a rate limit. */
const spentCodes = new Set(['insufficient_quota', 'billing_hard_limit_reached', 'billing_not_active']);

/** HTTP statuses for codes and types of errors that come within an answer. */
const statusOfCode: readonly (readonly [RegExp, number])[] = [
  [/api_?key|authentication|unauthorized|unauthenticated/i, 401],
  [/permission|forbidden|access_denied/i, 403],
  [/not_?found/i, 404],
  [/rate_?limit|quota|overloaded|too_?many_?requests|resource_?exhausted|throttl/i, 429],
  [/^(invalid_|image_|unsupported_|bio_policy|misalignment_policy|data_residency|content_policy)|^bad_?request/i, 400],
];

/** Reads the failure from an error within a successful response, whose status says nothing. */
export function failureWithin(sent: unknown): ProviderFailure {
  const error = errorOf(sent);
  const { code, type, message } = error;
  const meant = [code, type].flatMap((word) => statusOfCode.find(([pattern]) => pattern.test(word))?.[1] ?? []);
  const status = error.status ?? (isAboutLength(code, message) ? 400 : (meant[0] ?? 500));
  const failure = failureFrom(status, error, 'the provider broke off its answer');
  return new ProviderFailure(failure.kind, failure.message, failure.retryAfterMs, {
    status,
    content: failure.isAboutContent,
  });
}

/** A failure within an answer, with the delay of the response's `Retry-After`. */
export function askedToWait(failure: ProviderFailure, header: string | undefined, nowMs: number): ProviderFailure {
  const { kind, message, status, cause } = failure;
  const within = kind === 'unavailable' && status !== undefined;
  return within ? new ProviderFailure(kind, message, retryAfterMs(header, nowMs), { status, cause }) : failure;
}

/** `Retry-After` in seconds or as a date; undefined where it is neither. */
export function retryAfterMs(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined) return undefined;
  if (/^\d+(\.\d+)?$/.test(header.trim())) return Math.round(Number(header) * 1000);
  const at = Date.parse(header);
  return Number.isNaN(at) ? undefined : Math.max(0, at - nowMs);
}

function isOverflow(status: number, code: string, message: string): boolean {
  if (status === 400 || status === 413 || status === 422) return isAboutLength(code, message);
  // One request exceeds the limit of tokens per minute: waiting does not help, a shorter request does.
  if (status === 429) return /request too large/i.test(message);
  return status >= 500 && /context (length|window|size)/i.test(message);
}

function isAboutLength(code: string, message: string): boolean {
  return code === 'context_length_exceeded' || overflowWords.test(message);
}

/** How servers report a conversation that is too long. */
const overflowWords =
  /context (length|window|size)|maximum context|too many tokens|exceeds? the (available )?context|maximum prompt length|(prompt|input) is too long|exceeds the maximum number of tokens|request too large/i;

function isAboutKey(code: string, message: string): boolean {
  return code === 'invalid_api_key' || /(incorrect|invalid) api key|api key not valid/i.test(message);
}
