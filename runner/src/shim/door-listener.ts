import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { pipeline } from 'node:stream';
import type { Connector } from '../door/connector.js';
import { type DoorAnswer, respond } from '../door/exchange.js';
import { messageOf } from '../turn-failure.js';
import { refusal, type ToolRoute } from './tool-route.js';

/** The HTTP server that a foreign runner finds at its `controllerUrl`. */
export function createDoorListener(connector: Connector, tools: ToolRoute): Server {
  return createServer((incoming, response) => {
    const answered =
      incoming.method === 'POST' && incoming.url === '/tool'
        ? tools.answer(incoming).then((answer) => send(response, answer))
        : forward(connector, incoming, response);
    answered.catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else send(response, refusal(502, 'door-failed', messageOf(error)));
    });
  });
}

/** Whatever else the door offers passes as it is, once. */
async function forward(connector: Connector, incoming: IncomingMessage, response: ServerResponse): Promise<void> {
  const answer = await respond(connector, {
    method: incoming.method ?? 'GET',
    path: incoming.url ?? '/',
    headers: endToEnd(incoming.headers),
    body: () => (hasBody(incoming.headers) ? incoming : nothing),
  });
  response.writeHead(answer.statusCode ?? 502, endToEnd(answer.headers));
  await new Promise<void>((resolve, reject) => {
    pipeline(answer, response, (error) => {
      // Where the asking side left first, this is what closes the connection to the door.
      answer.destroy();
      if (error) reject(error);
      else resolve();
    });
  });
}

/** Sent with the head in one write: a second one could hit a connection that a refusal has closed, and lose the answer. */
const nothing = Buffer.alloc(0);

function hasBody(headers: IncomingHttpHeaders): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/** Without the headers that are about one connection. */
function endToEnd(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const own = new Set(['connection', 'host', 'keep-alive', 'transfer-encoding']);
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !own.has(name)));
}

function send(response: ServerResponse, { status, contentType, body }: DoorAnswer): void {
  response.writeHead(status, { 'content-type': contentType, 'content-length': body.length });
  response.end(body);
}
