import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { event } from './model-server.js';

/** A provider that says what the test tells it, piece by piece. */
export interface ToldProvider {
  readonly baseURL: string;
  /** The answer to the first question, which has begun. */
  readonly asked: Promise<ServerResponse>;
  close(): Promise<void>;
}

export async function startToldProvider(): Promise<ToldProvider> {
  const asked = Promise.withResolvers<ServerResponse>();
  const server = createServer((request, response) => {
    text(request).then(() => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
      asked.resolve(response);
    }, asked.reject);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    baseURL: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/v1`,
    asked: asked.promise,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export const say = (response: ServerResponse, content: string) =>
  response.write(`${event({ choices: [{ index: 0, delta: { content } }] })}\n\n`);
export const finish = (response: ServerResponse) =>
  response.end(`${event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })}\n\ndata: [DONE]\n\n`);
