import type { Exchange } from './http-client.js';
import { unavailable } from './http-failures.js';

/** Bodies that `fetch` can send. */
export type FetchBody = Uint8Array<ArrayBuffer> | Blob;

/** An exchange over the platform's `fetch`. `timeoutMs` limits the whole exchange, the answer's body included. */
export function fetchExchange(options: Pick<RequestInit, 'redirect'> = {}): Exchange<FetchBody> {
  return async ({ method, url, headers, body, timeoutMs, signal }) => {
    const bounds = [
      ...(timeoutMs === undefined ? [] : [AbortSignal.timeout(Math.ceil(timeoutMs))]),
      ...(signal === undefined ? [] : [signal]),
    ];
    const response = await fetch(url, {
      ...options,
      method,
      headers,
      ...(body === undefined ? {} : { body }),
      ...(bounds.length === 0 ? {} : { signal: AbortSignal.any(bounds) }),
    }).catch((error: unknown) => {
      throw unavailable(error);
    });
    return {
      status: response.status,
      header: (name) => response.headers.get(name) ?? undefined,
      // An empty body is null.
      body: (response.body ?? []) as AsyncIterable<Uint8Array>,
      discard: () => {
        response.body?.cancel().catch(() => undefined);
      },
    };
  };
}
