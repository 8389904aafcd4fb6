import type { IncomingMessage } from 'node:http';
import { type HttpServer, startHttpServer } from '../http/http-server.js';
import { toProblem } from '@suzumio/contract/errors/problem';
import { isSuzumioError, messageOf } from '@suzumio/contract/errors/suzumio-error';
import { refusalLog } from '../http/refusal-log.js';
import { type SourceCheck, sourceCheck } from '../http/request-source.js';
import { problemMediaType } from '@suzumio/protocol/problem';
import type { Logger } from '../observability/logger.js';
import type { Metrics } from '../observability/metrics.js';

/** Whether a service can work now, and which parts of it are degraded. */
export interface Readiness {
  ready: boolean;
  /** Dependencies that are unavailable or refuse the service, such as `redis`. */
  degraded?: readonly string[];
}

export interface HealthListenerOptions {
  host: string;
  port: number;
  /** Names that it accepts besides `host` and loopback's. */
  allowedHosts?: readonly string[];
  metrics: Pick<Metrics, 'registry' | 'requestsRefused'>;
  logger: Logger;
  readiness: () => Promise<Readiness>;
}

interface Reply {
  status: number;
  type: string;
  body: string;
}

/**
 * Serves `/metrics`, `/healthz` (the process answers) and `/readyz` (200 if it can work, else 503) on a port of their
 * own.
 */
export async function startHealthListener(options: HealthListenerOptions): Promise<HttpServer> {
  const check = sourceCheck(options);
  const logRefusal = refusalLog(options);
  return startHttpServer(
    (request, response) => {
      reply(request, check, options)
        .catch((error: unknown) => {
          logRefusal(error, request);
          return failed(error);
        })
        .then(({ status, type, body }) => response.writeHead(status, { 'content-type': type }).end(body))
        .catch(() => response.destroy());
    },
    { host: options.host, port: options.port, stopWithinMs: 1_000 },
  );
}

async function reply(
  request: IncomingMessage,
  check: SourceCheck,
  { metrics: { registry }, readiness }: HealthListenerOptions,
): Promise<Reply> {
  check(request);
  if (request.method !== 'GET' && request.method !== 'HEAD') return json(405, { error: 'only GET is answered here' });
  switch (request.url ?? '') {
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

function failed(error: unknown): Reply {
  if (!isSuzumioError(error)) return json(500, { error: messageOf(error) });
  const problem = toProblem(error);
  return { status: problem.status, type: problemMediaType, body: JSON.stringify(problem) };
}

function json(status: number, body: unknown): Reply {
  return { status, type: 'application/json', body: JSON.stringify(body) };
}
