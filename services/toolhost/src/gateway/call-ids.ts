import { createHash, randomInt } from 'node:crypto';

// Nine letters and digits are an id for all servers: Mistral's take no other.

const length = 9;
const signs = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** An id for a call that its provider gave none. */
export function newCallId(): string {
  return Array.from({ length }, () => signs[randomInt(signs.length)]).join('');
}

/** The id under which a call of another provider is shown: always the same. */
export function shownCallId(id: string): string {
  if (/^[0-9A-Za-z]{9}$/.test(id)) return id;
  const digest = createHash('sha256').update(id).digest();
  return Array.from(digest.subarray(0, length), (byte) => signs[byte % signs.length]).join('');
}
