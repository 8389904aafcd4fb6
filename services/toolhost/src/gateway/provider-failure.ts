import { errorIn, errorOf, type ToldError } from './error-words.js';
import { wordsOfRefusal } from './refusal-words.js';

/**
 * Why a provider gave no answer, by consequence.
 *
 * - `unavailable`: unreachable, overloaded, over a rate limit, or an invalid answer; another provider may be tried, and
 *   this one later
 * - `quota-spent`: the account's credit is spent, until it is topped up
 * - `key-rejected`, `access-refused` (a region, an account), `model-unknown`, `request-refused`: a repeated request would
 *   fail the same way
 * - `schema-refused`: the server cannot compile the schema of a tool
 * - `context-overflow`: the conversation is too long for the model
 * - `context-suspected`: it may be, though no word names that
 * - `answer-too-large`: the answer is longer than any useful one
 */
export type ProviderFailureKind =
  | 'unavailable'
  | 'quota-spent'
  | 'key-rejected'
  | 'access-refused'
  | 'model-unknown'
  | 'request-refused'
  | 'schema-refused'
  | 'context-overflow'
  | 'context-suspected'
  | 'answer-too-large';

interface FailureDetails {
  cause?: unknown;
  /** The HTTP status that an error within an answer stands for. */
  status?: number | undefined;
  param?: string | undefined;
  maybeTooLong?: boolean | undefined;
  /** Set where the provider objects to what the conversation contains. */
  content?: boolean | undefined;
  /** Set where something was answered that is not understood. */
  unreadable?: boolean | undefined;
}

type Changes = FailureDetails & { kind?: ProviderFailureKind; message?: string; retryAfterMs?: number | undefined };

export class ProviderFailure extends Error {
  override readonly name = 'ProviderFailure';

  constructor(
    readonly kind: ProviderFailureKind,
    message: string,
    /** The provider's `Retry-After`, in milliseconds. */
    readonly retryAfterMs?: number,
    private readonly details: FailureDetails = {},
  ) {
    super(message, details);
  }

  /** The same failure, in other words, or after a delay. */
  with({
    kind = this.kind,
    message = this.message,
    retryAfterMs = this.retryAfterMs,
    ...details
  }: Changes): ProviderFailure {
    return new ProviderFailure(kind, message, retryAfterMs, { ...this.details, ...details });
  }

  get status(): number | undefined {
    return this.details.status;
  }

  /** The part of the request that the provider refuses, as it names it; empty where it names none. */
  get param(): string {
    return this.details.param ?? '';
  }

  /** The words of the provider alone. */
  get words(): string {
    return this.message.replace(/^the provider (?:answered \d{3}|broke off its answer)[^:]*: /, '');
  }

  /** Whether the question may have been too long, though no word names that. */
  get maybeTooLong(): boolean {
    return this.details.maybeTooLong === true;
  }

  /** Whether the provider objects to what the conversation contains: another one is not asked then. */
  get isAboutContent(): boolean {
    return this.details.content === true;
  }

  /** Whether something was answered that is not understood. It may be better the next time, but not for ever. */
  get unreadable(): boolean {
    return this.details.unreadable === true;
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

function failureFrom(status: number, error: ToldError, how: string, retryAfter?: number): ProviderFailure {
  const { code, type, param, message } = error;
  const said = `${how}${message === '' ? '' : `: ${message}`}`;
  const words = wordsOfRefusal(error);
  const details = { param };
  const isContent = status < 500 && status !== 401 && status !== 429 && words.isContent;
  if (concernsQuestion(status, code)) {
    if (words.isSchema) return new ProviderFailure('schema-refused', said, undefined, details);
    if (words.isOverflow) return new ProviderFailure('context-overflow', said, undefined, details);
  }
  if (status === 402 || spentCodes.has(code) || spentCodes.has(type)) return new ProviderFailure('quota-spent', said);
  const isAccess = status === 400 || status === 401 || status === 403 || status === 451;
  if (isAccess && !isContent && words.isRegion) return new ProviderFailure('access-refused', said);
  if (status === 404 || code === 'model_not_found') return new ProviderFailure('model-unknown', said);
  if (status === 401 || (status === 403 && !isContent) || (status === 400 && isAboutKey(code, message))) {
    return new ProviderFailure('key-rejected', said);
  }
  // Servers that run a template, or pass a request on, report as their own what the request causes.
  if (status >= 500 && (unreadByServer.test(message) || words.isRole || words.isField)) {
    return new ProviderFailure('request-refused', said, undefined, details);
  }
  const maybeTooLong =
    status === 413 ||
    (status === 400 && words.isBare) ||
    (status === 500 && !words.namesPart && !busyWords.test(message));
  if (status === 408 || status === 409 || status === 425 || status === 429 || status >= 500 || status < 400) {
    return new ProviderFailure('unavailable', said, retryAfter, { maybeTooLong });
  }
  return new ProviderFailure('request-refused', type === '' ? said : `${said} (${type})`, undefined, {
    ...details,
    content: isContent,
    maybeTooLong,
  });
}

/** Whether the words of a refusal concern the question: not where it is of the caller, or of its rate. */
function concernsQuestion(status: number, code: string): boolean {
  if (status === 429) return !spentCodes.has(code);
  return (status >= 400 && status < 401) || status === 413 || status === 422 || status === 424 || status >= 500;
}

/** A server that has no time, or no memory, now. */
const busyWords = /overload|capacity|try again|temporar|unavailable|timed? ?out|busy|\brate\b|loading/i;

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
  const { code, type } = error;
  const meant = [code, type].flatMap((word) => statusOfCode.find(([pattern]) => pattern.test(word))?.[1] ?? []);
  const status = error.status ?? (wordsOfRefusal(error).isOverflow ? 400 : (meant[0] ?? 500));
  return failureFrom(status, error, 'the provider broke off its answer').with({ status });
}

/** A failure within an answer, with the delay of the response's `Retry-After`. */
export function askedToWait(failure: ProviderFailure, header: string | undefined, nowMs: number): ProviderFailure {
  const within = failure.kind === 'unavailable' && failure.status !== undefined;
  return within ? failure.with({ retryAfterMs: retryAfterMs(header, nowMs) }) : failure;
}

/** `Retry-After` in seconds or as a date; undefined where it is neither. */
export function retryAfterMs(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined) return undefined;
  if (/^\d+(\.\d+)?$/.test(header.trim())) return Math.round(Number(header) * 1000);
  const at = Date.parse(header);
  return Number.isNaN(at) ? undefined : Math.max(0, at - nowMs);
}

function isAboutKey(code: string, message: string): boolean {
  return code === 'invalid_api_key' || /(incorrect|invalid) api key|api key not valid/i.test(message);
}
