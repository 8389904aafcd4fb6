import type { Registry } from 'prom-client';
import { type HttpServer, startHttpServer } from '../http/http-server.js';
import { messageOf } from '../errors/suzumio-error.js';

/** Whether a service can do its work now, and in which parts it cannot (or only worse than usual). */
export interface Readiness {
  ready: boolean;
  /** Parts that are away although the service goes on, such as `redis`. */
  degraded?: readonly string[];
}

export interface HealthListenerOptions {
  host: string;
  port: number;
  registry: Registry;
  readiness: () => Promise<Readiness>;
}

interface Reply {
  status: number;
  type: string;
  body: string;
}

/** `GET /metrics`, `/healthz` (the process answers) and `/readyz` (it can work: 200, else 503), on a port of their own. */
export async function startHealthListener(options: HealthListenerOptions): Promise<HttpServer> {
  return startHttpServer(
    (request, response) => {
      reply(request.method, request.url, options)
        .catch((error: unknown) => json(500, { error: messageOf(error) }))
        .then(({ status, type, body }) => response.writeHead(status, { 'content-type': type }).end(body))
        .catch(() => response.destroy());
    },
    { host: options.host, port: options.port, requestTimeoutMs: 5_000, stopWithinMs: 1_000 },
  );
}

async function reply(method = '', url = '', { registry, readiness }: HealthListenerOptions): Promise<Reply> {
  if (method !== 'GET' && method !== 'HEAD') return json(405, { error: 'only GET is answered here' });
  switch (url) {
    case '/metrics':
      return { status: 200, type: registry.contentType, body: await registry.metrics() };
    case '/healthz':
      return json(200, { status: 'ok' });
    case '/readyz': {
      const { ready, degraded = [] } = await readiness();
      const status = !ready ? 'not-ready' : degraded.length > 0 ? 'degraded' : 'ready';
      return json(ready ? 200 : 503, { status, degraded });
    }
    default:
      return json(404, { error: 'there are /metrics, /healthz and /readyz' });
  }
}

function json(status: number, body: unknown): Reply {
  return { status, type: 'application/json', body: JSON.stringify(body) };
}
