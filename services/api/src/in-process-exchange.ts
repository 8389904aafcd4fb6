import type Http from 'node:http';
import type { IncomingMessage, RequestListener } from 'node:http';
import { createRequire } from 'node:module';
import { Duplex, PassThrough } from 'node:stream';
import type { FetchBody } from '@suzumio/protocol/fetch-exchange';
import type { Exchange } from '@suzumio/protocol/http-client';

// Imported as a module, it would load `fetch`, too, which takes a tenth of the time of a short command.
const http = createRequire(import.meta.url)('node:http') as typeof Http;

/** The host that requests are sent to; none that a network has. */
export const inProcessUrl = 'http://localhost';

/** Requests to an application of this process. */
export interface InProcessExchange {
  readonly exchange: Exchange<FetchBody>;
  /** Ends an exchange with an error: what asked is thrown that very error. */
  readonly fail: (request: IncomingMessage, error: unknown) => void;
}

/**
 * HTTP over a pair of streams in memory for each request: nothing listens, so nobody else can ask. `timeoutMs` bounds
 * nothing, since no connection can be lost.
 */
export function exchangeWith(listener: RequestListener): InProcessExchange {
  // It takes connections that it is handed; it listens nowhere.
  const server = http.createServer(listener);
  const asking = new WeakMap<Duplex, (error: unknown) => void>();
  return {
    async exchange({ method, url, headers, body, signal }) {
      const content = body instanceof Blob ? new Uint8Array(await body.arrayBuffer()) : body;
      const [near, far] = connected();
      const answer = await new Promise<IncomingMessage>((resolve, reject) => {
        const request = http.request(url, {
          createConnection: () => near,
          method,
          headers,
          ...(signal === undefined ? {} : { signal }),
        });
        request.on('error', reject);
        request.once('response', (response) => {
          asking.set(far, (error) => response.destroy(error as Error));
          resolve(response);
        });
        request.end(content);
        asking.set(far, reject);
        server.emit('connection', far);
      });
      return {
        status: answer.statusCode ?? 0,
        header: (name) => answer.headers[name]?.toString(),
        body: answer,
        discard: () => void answer.destroy(),
      };
    },
    fail({ socket }, error) {
      asking.get(socket)?.(error);
      socket.destroy();
    },
  };
}

/** Two streams, each of which reads what the other writes. */
function connected(): [Duplex, Duplex] {
  const [there, back] = [new PassThrough(), new PassThrough()];
  return [Duplex.from({ readable: back, writable: there }), Duplex.from({ readable: there, writable: back })];
}
