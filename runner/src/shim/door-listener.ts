import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { pipeline } from 'node:stream/promises';
import type { HttpClient, HttpRequest } from '@suzumio/protocol/http-client';
import type { Connector } from '../door/connector.js';
import type { DoorAnswer } from '../door/door-client.js';
import { type DoorBody, doorHttp } from '../door/exchange.js';
import { messageOf } from '../turn-failure.js';
import { refusal, type ToolRoute } from './tool-route.js';

/** The HTTP server that a foreign runner finds at its `controllerUrl`. */
export function createDoorListener(connector: Connector, tools: ToolRoute): Server {
  // All answers are passed on, errors included.
  const door = doorHttp(connector, { isTransient: () => false });
  return createServer((incoming, response) => {
    const answered =
      incoming.method === 'POST' && incoming.url === '/tool'
        ? tools.answer(incoming).then((answer) => send(response, answer))
        : forward(door, incoming, response);
    answered.catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else send(response, refusal(502, 'door-failed', messageOf(error)));
    });
  });
}

/** Forwards the door's other routes unchanged, without retries. */
async function forward(door: HttpClient<DoorBody>, incoming: IncomingMessage, response: ServerResponse): Promise<void> {
  const answer = await door.ask({
    method: incoming.method as HttpRequest['method'],
    path: incoming.url ?? '/',
    headers: endToEnd(incoming.headers),
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

function send(response: ServerResponse, { status, contentType, body }: DoorAnswer): void {
  response.writeHead(status, { 'content-type': contentType, 'content-length': body.length });
  response.end(body);
}
