import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';

/**
 * A body that is no longer than `maxBytes`, whole; or all of a longer one as it comes, of which no more than that is held.
 */
export async function shortBody(
  request: IncomingMessage,
  maxBytes: number,
): Promise<{ whole: Buffer; source?: undefined } | { whole?: undefined; source: Readable }> {
  const held: Buffer[] = [];
  let sizeBytes = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    held.push(chunk);
    sizeBytes += chunk.length;
    if (sizeBytes > maxBytes) return { source: Readable.from(all(held, request)) };
  }
  return { whole: Buffer.concat(held) };
}

async function* all(held: readonly Buffer[], rest: IncomingMessage): AsyncGenerator<Buffer> {
  yield* held;
  for await (const chunk of rest as AsyncIterable<Buffer>) yield chunk;
}
