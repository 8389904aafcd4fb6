import type { Server, ServerResponse } from 'node:http';
import type { Connector } from '../door/connector.js';
import type { DoorAnswer } from '../door/door-client.js';
import { doorHttp } from '../door/exchange.js';
import { forward } from '../door/forward.js';
import { createLocalServer } from '../door/local-server.js';
import { messageOf } from '../turn-failure.js';
import { refusal, type ToolRoute } from './tool-route.js';

/** The HTTP server that a foreign runner finds at its `controllerUrl`. */
export function createDoorListener(connector: Connector, tools: ToolRoute): Server {
  // All answers are passed on, errors included.
  const door = doorHttp(connector, { isTransient: () => false });
  return createLocalServer((incoming, response) => {
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

function send(response: ServerResponse, { status, contentType, body }: DoorAnswer): void {
  response.writeHead(status, { 'content-type': contentType, 'content-length': body.length });
  response.end(body);
}
