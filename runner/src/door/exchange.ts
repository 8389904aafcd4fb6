import { type IncomingMessage, request } from 'node:http';
import type { Readable } from 'node:stream';
import { type Exchange, HttpClient, type HttpClientOptions } from '@suzumio/protocol/http-client';
import { unavailable } from '@suzumio/protocol/http-failures';
import type { Connector } from './connector.js';

/** Bytes, or a function that creates the stream for each try. */
export type DoorBody = Buffer | (() => Readable);

/**
 * Sent with the head in one write: a second one could hit a connection that a refusal has closed, and lose the answer.
 */
const nothing = Buffer.alloc(0);

const baseOf = ({ host, basePath }: Connector): string => `http://${host}${basePath}`;

/** Requests through the door. */
export function doorHttp(
  connector: Connector,
  options: Pick<HttpClientOptions<DoorBody>, 'isTransient'> = {},
): HttpClient<DoorBody> {
  return new HttpClient({ url: baseOf(connector), exchange: doorExchange(connector), ...options });
}

/** Exchanges through the door, each on a connection of its own. */
function doorExchange(connector: Connector): Exchange<DoorBody> {
  const base = baseOf(connector);
  return async ({ method, url, headers, body, signal }) => {
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      // Kept alive and closed on this side: if the server closed first, the end of the body could hit a closed
      // connection.
      const connection = connector.open();
      const outgoing = request({
        createConnection: () => connection,
        method,
        path: connector.basePath + url.slice(base.length),
        headers: { ...headers, host: connector.host, connection: 'keep-alive' },
        ...(signal === undefined ? {} : { signal }),
      });
      const content = typeof body === 'function' ? body() : body;
      outgoing.on('error', (error) => reject(unavailable(error)));
      outgoing.on('response', (response) => {
        // The answer may come before the whole body was sent, which then need not be.
        if (typeof content === 'object' && 'unpipe' in content) content.unpipe(outgoing);
        // Not the request's: it has released the connection by then, if the answer was complete.
        response.on('close', () => connection.destroy());
        resolve(response);
      });
      if (content === undefined || typeof content === 'string' || Buffer.isBuffer(content)) {
        outgoing.end(content ?? nothing);
        return;
      }
      content.on('error', (error) => {
        reject(error);
        outgoing.destroy();
      });
      // With `Expect`, the body is sent only once the server accepts the headers.
      if (headers['expect'] === undefined) content.pipe(outgoing);
      else outgoing.on('continue', () => content.pipe(outgoing));
      outgoing.flushHeaders();
    });
    return {
      status: answer.statusCode ?? 502,
      header: (name) => answer.headers[name]?.toString(),
      body: answer,
      discard: () => void answer.destroy(),
    };
  };
}
