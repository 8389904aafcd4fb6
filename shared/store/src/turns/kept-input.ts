import { createHash } from 'node:crypto';
import { beginningOf } from '@suzumio/protocol/cut-text';

/** The longest input of a call that is kept whole, as JSON, in UTF-16 code units. */
export const maxKeptInput = 16 * 1024;

/** What is kept of a call's input. */
export interface KeptInput {
  json: string;
}

/**
 * What is kept of a call's input for those who look at it later: a longer one is cut, with the size and the SHA-256 of
 * the whole JSON. What a call did with its input is recorded by its effect.
 */
export function keptInput(input: unknown): KeptInput {
  const json = JSON.stringify(input ?? null);
  if (json.length <= maxKeptInput) return { json };
  const sha256 = createHash('sha256').update(json).digest('hex');
  return {
    json: JSON.stringify({ cut: beginningOf(json, maxKeptInput), sizeBytes: Buffer.byteLength(json), sha256 }),
  };
}
