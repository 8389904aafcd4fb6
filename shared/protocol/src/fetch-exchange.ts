import type { Exchange } from './http-client.js';
import { unavailable } from './http-failures.js';

/** Bodies that `fetch` can send. */
export type FetchBody = Uint8Array<ArrayBuffer> | Blob;

/** An exchange over the platform's `fetch`. `timeoutMs` limits the whole exchange, the answer's body included. */
export function fetchExchange(options: Pick<RequestInit, 'redirect'> = {}): Exchange<FetchBody> {
  return async ({ method, url, headers, body, timeoutMs, signal, keepalive = false }) => {
    const bounds = [
      ...(timeoutMs === undefined ? [] : [AbortSignal.timeout(Math.ceil(timeoutMs))]),
      ...(signal === undefined ? [] : [signal]),
    ];
    const response = await fetch(url, {
      ...options,
      method,
      headers,
      keepalive,
      ...(body === undefined ? {} : { body }),
      ...(bounds.length === 0 ? {} : { signal: AbortSignal.any(bounds) }),
    }).catch((error: unknown) => {
      throw unavailable(error);
    });
    return {
      status: response.status,
      header: (name) => response.headers.get(name) ?? undefined,
      body: chunksOf(response.body),
      discard: () => {
        response.body?.cancel().catch(() => undefined);
      },
    };
  };
}

/** Not every browser iterates over a stream by itself. An empty body is null. */
async function* chunksOf(stream: ReadableStream<Uint8Array> | null): AsyncGenerator<Uint8Array> {
  if (!stream) return;
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    // What nobody reads any more is not fetched, either.
    reader.cancel().catch(() => undefined);
  }
}
