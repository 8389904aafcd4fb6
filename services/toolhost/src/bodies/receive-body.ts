import type { Request } from 'express';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';

/** How long a body may take to arrive, besides what its length needs. */
const graceMs = 10_000;
/** The slowest network between a worker and its ToolHost that is supported. */
const bytesPerMs = 512;

/**
 * A body's declared length; undefined where the headers have none.
 *
 * @throws SuzumioError `body-too-large`, `invalid-request`
 */
export function announcedBytes(request: Request, maxBytes: number): number | undefined {
  const encoding = request.get('content-encoding') ?? 'identity';
  if (encoding !== 'identity') throw new SuzumioError('invalid-request', 'A body is taken as it is, not compressed.');
  const announced = request.get('content-length');
  if (announced === undefined) return undefined;
  const length = Number(announced);
  if (length > maxBytes) throw tooLarge(maxBytes);
  return length;
}

/** Limits on a body's length. */
export interface BodyLimits {
  /** The room that it has already. */
  roomBytes: number;
  /** The longest allowed body. @default roomBytes */
  maxBytes?: number;
  /** Gets room for `maxBytes`, for a body longer than `roomBytes`; the rest stays unread meanwhile. */
  moreRoom?: () => Promise<void>;
}

/**
 * The whole body of a request. It holds room that others wait for, so it has to arrive within a time that depends on
 * its length. What follows a refusal is read and discarded.
 *
 * @throws SuzumioError `body-too-large`, `request-too-slow`; what `moreRoom` throws
 */
export async function receiveBody(
  request: Request,
  { roomBytes, maxBytes = roomBytes, moreRoom }: BodyLimits,
): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  let cut: NodeJS.Timeout | undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      const late = () => reject(new SuzumioError('request-too-slow', 'The body arrived too slowly and was given up.'));
      const within = (bytes: number) => (cut = setTimeout(late, graceMs + bytes / bytesPerMs));
      within(roomBytes);
      let more = moreRoom;
      request.once('end', resolve);
      request.once('error', reject);
      request.once('close', () => {
        if (!request.readableEnded) reject(new SuzumioError('invalid-request', 'The body has not arrived whole.'));
      });
      request.on('data', (chunk: Buffer) => {
        sizeBytes += chunk.length;
        if (sizeBytes > maxBytes) {
          reject(tooLarge(maxBytes));
          return;
        }
        chunks.push(chunk);
        if (sizeBytes <= roomBytes || !more) return;
        clearTimeout(cut);
        request.pause();
        more().then(() => {
          within(maxBytes);
          request.resume();
        }, reject);
        more = undefined;
      });
    });
  } finally {
    clearTimeout(cut);
    request.removeAllListeners('data');
    request.resume();
  }
  // A buffer of its own, which can be transferred to another thread.
  const body = new Uint8Array(sizeBytes);
  let at = 0;
  for (const chunk of chunks) {
    body.set(chunk, at);
    at += chunk.length;
  }
  return body;
}

function tooLarge(limitBytes: number): SuzumioError {
  const message = `The body is too large; at most ${String(limitBytes)} bytes are taken.`;
  return new SuzumioError('body-too-large', message, { limitBytes });
}
