import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import type { HttpClient, HttpRequest } from '@suzumio/protocol/http-client';
import type { DoorBody } from './exchange.js';

/** Forwards a request to the door unchanged but for these headers, without retries. */
export async function forward(
  door: HttpClient<DoorBody>,
  incoming: IncomingMessage,
  response: ServerResponse,
  headers: Readonly<Record<string, string>> = {},
): Promise<void> {
  const answer = await door.ask({
    method: incoming.method as HttpRequest['method'],
    path: incoming.url ?? '/',
    headers: { ...endToEnd(incoming.headers), ...headers },
    body: hasBody(incoming.headers) ? () => incoming : undefined,
  });
  const told = ['content-type', 'content-length', 'retry-after'].flatMap((name) => {
    const value = answer.header(name);
    return value === undefined ? [] : [[name, value]];
  });
  response.writeHead(answer.status, Object.fromEntries(told) as Record<string, string>);
  await pipeline(answer.body, response).finally(answer.discard);
}

function hasBody(headers: IncomingHttpHeaders): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/** Removes hop-by-hop headers. */
function endToEnd(headers: IncomingHttpHeaders): Record<string, string> {
  const own = new Set(['connection', 'host', 'keep-alive', 'transfer-encoding']);
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      own.has(name) || value === undefined ? [] : [[name, String(value)]],
    ),
  );
}
