import { ReadableStream } from 'node:stream/web';
import type { HttpRequest } from '@suzumio/protocol/http-client';
import type { Connector } from '../door/connector.js';
import { doorHttp } from '../door/exchange.js';

/** `fetch` through the door, for a client that knows nothing of doors. Only what that client sends: paths and texts. */
export function doorFetch(connector: Connector): typeof fetch {
  // What a status says is that client's to judge.
  const http = doorHttp(connector, { isTransient: () => false });
  return async (target, init) => {
    const { pathname } = new URL(target instanceof Request ? target.url : target);
    const body = typeof init?.body === 'string' ? init.body : '';
    const answer = await http.ask({
      method: (init?.method ?? 'GET') as HttpRequest['method'],
      path: pathname,
      headers: Object.fromEntries(new Headers(init?.headers)),
      body: Buffer.from(body),
    });
    init?.signal?.addEventListener('abort', answer.discard);
    return new Response(ReadableStream.from(answer.body), {
      status: answer.status,
      headers: { 'content-type': answer.header('content-type') ?? '' },
    });
  };
}
