import { beginningOf } from '@suzumio/protocol/cut-text';

/** What a provider says of what went wrong. */
export interface ToldError {
  /** As a status of HTTP, where it names one. */
  status: number | undefined;
  code: string;
  type: string;
  /** Its own words; empty where it has none. */
  message: string;
}

/** The most of what is told where nothing in it looks like words. */
const maxUnreadChars = 300;
/** As deep are words looked for, and as many are told of a list. */
const deepestWords = 6;
const mostWords = 10;

/** Reads an error as it was sent: usually JSON, of whatever form, or a text, or a page of a proxy. */
export function errorIn(body: string): ToldError {
  try {
    return errorOf(JSON.parse(body));
  } catch {
    return { status: undefined, code: '', type: '', message: plainWords(body) };
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
    message: wordsOf(outer) || (says(outer) ? beginningOf(JSON.stringify(outer), maxUnreadChars) : ''),
  };
}

/** Whether anything stands where an error would: some servers send an empty one with every answer. */
export function says(error: unknown): boolean {
  return Boolean(error) && (typeof error !== 'object' || Object.keys(error as object).length > 0);
}

/** A field of whatever may have fields. */
export function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

/** The words of what is no JSON: of a page its title. */
export function plainWords(text: string): string {
  const words = /^\s*</.test(text) ? (/<title[^>]*>([^<]*)/i.exec(text)?.[1] ?? '') : text;
  return words.trim().replace(/\s+/g, ' ');
}

const statusNames = ['code', 'status', 'status_code', 'statusCode'];

function statusOf(value: unknown): number | undefined {
  const status = typeof value === 'string' || typeof value === 'number' ? Number(value) : 0;
  return Number.isInteger(status) && status >= 400 && status < 600 ? status : undefined;
}

/** Where servers put their words, and what only names them. */
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
  // What a gateway heard from the server behind it, and of which part of a question a server speaks.
  const raw = within(field(field(value, 'metadata'), 'raw'));
  const location = field(value, 'loc');
  const where = Array.isArray(location) ? location.map(String).join('.') : '';
  return [where, ...new Set([error, words, raw])].filter(Boolean).join(': ');
}
