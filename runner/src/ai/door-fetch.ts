import { ReadableStream } from 'node:stream/web';
import type { Connector } from '../door/connector.js';
import { bodyOf, respond } from '../door/exchange.js';

/** `fetch` through the door, for a client that knows nothing of doors. Only what that client sends: paths and texts. */
export function doorFetch(connector: Connector): typeof fetch {
  return async (target, init) => {
    const { pathname } = new URL(target instanceof Request ? target.url : target);
    const body = typeof init?.body === 'string' ? init.body : '';
    const response = await respond(connector, {
      method: init?.method ?? 'GET',
      path: pathname,
      headers: Object.fromEntries(new Headers(init?.headers)),
      body: () => Buffer.from(body),
    });
    init?.signal?.addEventListener('abort', () => response.destroy());
    return new Response(ReadableStream.from(bodyOf(response)), {
      status: response.statusCode ?? 502,
      headers: { 'content-type': response.headers['content-type'] ?? '' },
    });
  };
}
