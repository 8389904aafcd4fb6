import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { DoorAnswer, DoorClient } from '../door/door-client.js';
import { SandboxRefusal } from '../sandbox/paths/refusal.js';
import { problemOf } from './tool-answer.js';

/** Content by its hash, as it is stored. */
export interface Content {
  readonly sha256: string;
  readonly sizeBytes: number;
}

/** Stores content, of which `body` begins anew at each try. */
export function putContent(
  door: DoorClient,
  authorization: string,
  { sha256, sizeBytes }: Content,
  body: () => Readable,
): Promise<DoorAnswer> {
  return door.send({
    method: 'PUT',
    path: `/content/${sha256}`,
    headers: {
      authorization,
      'content-type': 'application/octet-stream',
      'content-length': String(sizeBytes),
      expect: '100-continue',
    },
    body,
  });
}

/**
 * Stores an image that a model is to see, and returns its hash.
 *
 * @throws SandboxRefusal where it is refused
 */
export async function putImage(door: DoorClient, authorization: string, bytes: Buffer): Promise<string> {
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const content = { sha256, sizeBytes: bytes.length };
  const answer = await putContent(door, authorization, content, () => Readable.from([bytes]));
  if (answer.status < 300) return sha256;
  throw new SandboxRefusal('system-error', `The image was not stored: ${problemOf(answer).detail}`);
}
