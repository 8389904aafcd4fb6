import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request as httpRequest,
  type ServerResponse,
} from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/**
 * What happens to a request: it is answered, its answer is lost, it never arrives, the connection is dead and nobody says
 * so, or the server says 503.
 */
export type Fault = 'lose-answer' | 'lose-request' | 'hang' | 'unavailable';

export interface FaultyProxy {
  url: string;
  /** What is done to a request, by its path; nothing where it is undefined. */
  fault: (path: string) => Fault | undefined;
  /** Paths of all requests that arrived, in order. */
  seen: string[];
  close(): Promise<void>;
}

/** Passes requests on, unless a test says otherwise. */
export async function startFaultyProxy(target: () => string): Promise<FaultyProxy> {
  const server = createServer((incoming, outgoing) => {
    pass(incoming, outgoing).catch(() => outgoing.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const proxy: FaultyProxy = {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    fault: () => undefined,
    seen: [],
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };

  async function pass(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const path = incoming.url ?? '';
    proxy.seen.push(path);
    const fault = proxy.fault(path);
    if (fault === 'lose-request') {
      incoming.socket.destroy();
      return;
    }
    if (fault === 'hang') return;
    if (fault === 'unavailable') {
      outgoing
        .writeHead(503, { 'content-type': 'application/problem+json' })
        .end('{"code":"store-busy","detail":"Busy."}');
      return;
    }
    const body = await buffer(incoming);
    const upstream = httpRequest(target() + path, {
      method: incoming.method,
      headers: { ...endToEnd(incoming.headers), 'content-length': String(body.length) },
      agent: false,
    });
    outgoing.once('close', () => upstream.destroy());
    upstream.end(body);
    const [response] = (await once(upstream, 'response')) as [IncomingMessage];
    const answer = await buffer(response);
    if (fault === 'lose-answer') {
      incoming.socket.destroy();
      return;
    }
    outgoing.writeHead(response.statusCode ?? 502, endToEnd(response.headers)).end(answer);
  }
  return proxy;
}

/** Headers without those of one connection only. */
function endToEnd(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const hopByHop = ['host', 'connection', 'keep-alive', 'transfer-encoding'];
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !hopByHop.includes(name)));
}
