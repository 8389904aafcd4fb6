/**
 * Why a provider gave no answer, by what follows from it.
 *
 * - `unavailable`: it is away, overloaded, over a limit of ours, or answers what is no answer; another may be asked, and
 *   later it
 * - `key-rejected`, `model-unknown`, `request-refused`: it answered, and will answer the same again
 * - `context-overflow`: the conversation is too long for the model
 * - `answer-too-large`: the answer is longer than anything that an agent could mean
 */
export type ProviderFailureKind =
  'unavailable' | 'key-rejected' | 'model-unknown' | 'request-refused' | 'context-overflow' | 'answer-too-large';

export class ProviderFailure extends Error {
  override readonly name = 'ProviderFailure';

  constructor(
    readonly kind: ProviderFailureKind,
    message: string,
    /** How long the provider asked us to wait. */
    readonly retryAfterMs?: number,
    options?: { cause?: unknown },
  ) {
    super(message, options);
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
  const { code, type, message } = errorOf(body);
  const elsewhere = status >= 300 && status < 400 ? ', which points elsewhere and is not followed' : '';
  const said = `the provider answered ${status}${elsewhere}${message === '' ? '' : `: ${message}`}`;
  if (isOverflow(status, code, message)) return new ProviderFailure('context-overflow', said);
  if (status === 401) return new ProviderFailure('key-rejected', said);
  // A 403 may be a region or an account that is not allowed; the key is what an operator looks at first.
  if (status === 403) return new ProviderFailure('key-rejected', said);
  if (status === 404 || code === 'model_not_found') return new ProviderFailure('model-unknown', said);
  if (status >= 500 && unreadable.test(message)) return new ProviderFailure('request-refused', said);
  // Spent credit looks like a rate limit, and waiting does not bring it back within a turn's patience: yet topping it up
  // does, so it waits like one.
  if (status === 408 || status === 409 || status === 425 || status === 429 || status >= 500 || status < 400) {
    return new ProviderFailure('unavailable', said, retryAfterMs(retryAfter, nowMs));
  }
  return new ProviderFailure('request-refused', type === '' ? said : `${said} (${type})`);
}

/** What a server of llama.cpp calls its own fault, and is one of the conversation. */
const unreadable = /failed to parse tool call arguments/i;

/** Codes of what stays as it is, however often it is asked. */
const refusedCodes = /^(invalid_|image_|unsupported_|bio_policy|misalignment_policy|data_residency|content_policy)/;

/** Reads the failure from an error within an answer that began well: its status says nothing, but what it holds does. */
export function failureWithin(error: unknown): ProviderFailure {
  const body = JSON.stringify({ error: field(error, 'error') ?? error });
  const { code, message } = errorOf(body);
  const number = Number(field(error, 'code'));
  const own = number >= 400 && number < 600 ? number : undefined;
  const status = own ?? (refusedCodes.test(code) || isAboutLength(code, message) ? 400 : 500);
  const failure = failureOf({ status, body, nowMs: 0 });
  return new ProviderFailure(failure.kind, failure.message.replace(`answered ${status}`, 'broke off its answer'));
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

/** The error of the usual JSON; of anything else, such as a page of a proxy, only that it is not that. */
function errorOf(body: string): { code: string; type: string; message: string } {
  const nothing = { code: '', type: '', message: '' };
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return nothing;
  }
  const [first] = Array.isArray(value) ? (value as unknown[]) : [value];
  const error = field(first, 'error') ?? first;
  if (typeof error === 'string') return { ...nothing, message: error };
  const string = (name: string) => {
    const found = field(error, name);
    return typeof found === 'string' ? found : '';
  };
  return { code: string('code'), type: string('type'), message: string('message') };
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}
