import { createHash } from 'node:crypto';
import { beginningOf } from '@suzumio/protocol/cut-text';

/** The longest call input that is kept in full, as JSON, in UTF-16 code units. */
export const maxKeptInput = 16 * 1024;

/** A call's input as it is kept. */
export interface KeptInput {
  json: string;
}

/**
 * A call's input for later inspection: a long one is cut, with the size and the SHA-256 of the whole JSON. The call's
 * effects are recorded elsewhere.
 */
export function keptInput(input: unknown): KeptInput {
  const json = JSON.stringify(input ?? null);
  if (json.length <= maxKeptInput) return { json };
  const sha256 = createHash('sha256').update(json).digest('hex');
  return {
    json: JSON.stringify({ cut: beginningOf(json, maxKeptInput), sizeBytes: Buffer.byteLength(json), sha256 }),
  };
}
