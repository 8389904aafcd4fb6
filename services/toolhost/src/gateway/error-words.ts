import { beginningOf } from '@suzumio/protocol/cut-text';

/** A provider's description of an error. */
export interface ToldError {
  /** Its HTTP status, if it names one. */
  status: number | undefined;
  code: string;
  type: string;
  /** The part of the request that it names. */
  param: string;
  /** Its message; empty where it has none. */
  message: string;
}

/** The most of a body that is quoted where no message is found in it. */
const maxUnreadChars = 300;
/** How deep messages are searched for, and how many of a list are quoted. */
const deepestWords = 6;
const mostWords = 10;

/** Reads an error from a response's body: usually JSON of some form, or plain text, or a proxy's HTML page. */
export function errorIn(body: string): ToldError {
  try {
    return errorOf(JSON.parse(body));
  } catch {
    return { status: undefined, code: '', type: '', param: '', message: plainWords(body) };
  }
}

/** Reads an error from parsed JSON. */
export function errorOf(value: unknown): ToldError {
  const outer = Array.isArray(value) ? (value as unknown[])[0] : value;
  const inner = says(field(outer, 'error')) ? field(outer, 'error') : outer;
  const found = [inner, outer];
  const named = (name: string) =>
    found.map((one) => field(one, name)).find((one): one is string => typeof one === 'string') ?? '';
  return {
    status: found.flatMap((one) => statusNames.map((name) => statusOf(field(one, name)))).find(Boolean),
    code: named('code'),
    type: named('type') || named('status'),
    param: named('param'),
    message: wordsOf(outer) || (says(outer) ? beginningOf(JSON.stringify(outer), maxUnreadChars) : ''),
  };
}

/** Whether an error field has content: some servers send an empty one with every answer. */
export function says(error: unknown): boolean {
  return Boolean(error) && (typeof error !== 'object' || Object.keys(error as object).length > 0);
}

/** A field of a value that may be an object. */
export function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

/** The text of a body that is not JSON: of an HTML page, its title. */
export function plainWords(text: string): string {
  const words = /^\s*</.test(text) ? (/<title[^>]*>([^<]*)/i.exec(text)?.[1] ?? '') : text;
  return words.trim().replace(/\s+/g, ' ');
}

const statusNames = ['code', 'status', 'status_code', 'statusCode'];

function statusOf(value: unknown): number | undefined {
  const status = typeof value === 'string' || typeof value === 'number' ? Number(value) : 0;
  return Number.isInteger(status) && status >= 400 && status < 600 ? status : undefined;
}

/** Fields in which servers put messages, and fields that merely name the error. */
const wordNames = ['message', 'detail', 'details', 'error_description', 'errors', 'msg', 'reason', 'description'];

function wordsOf(value: unknown, depth = 0): string {
  if (typeof value === 'string') return value.trim();
  if (typeof value !== 'object' || value === null || depth > deepestWords) return '';
  const within = (one: unknown) => wordsOf(one, depth + 1);
  if (Array.isArray(value)) {
    return (value as unknown[]).slice(0, mostWords).map(within).filter(Boolean).join('; ');
  }
  const error = within(field(value, 'error')) || within(field(value, 'title'));
  const words = wordNames.map((name) => within(field(value, name))).find(Boolean) ?? '';
  // A gateway's copy of the upstream server's error, and the part of the request that a server names.
  const raw = within(field(field(value, 'metadata'), 'raw'));
  const location = field(value, 'loc');
  const where = Array.isArray(location) ? location.map(String).join('.') : '';
  return [where, ...new Set([error, words, raw])].filter(Boolean).join(': ');
}
