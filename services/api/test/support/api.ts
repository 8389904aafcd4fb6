import { type IncomingMessage, request as httpRequest } from 'node:http';
import { text } from 'node:stream/consumers';
import { type Api, type ApiConfig, createApi } from '@suzumio/api';
import { storeHooks } from '@suzumio/control-plane/store-hooks';
import type { TokenScope } from '@suzumio/contract/model/access-token';
import type { Logger } from '@suzumio/runtime/observability/logger';
import { createMetrics, type Metrics } from '@suzumio/runtime/observability/metrics';
import { createInProcessTransport } from '@suzumio/runtime/queue/in-process-transport';
import type { Transport } from '@suzumio/runtime/queue/transport';
import { type TestCell, testCell, type TestCellOptions } from '../../../../test/support/cell.js';
import { recordingLogger } from '../../../../test/support/logs.js';

/** An answer, with its body as text and, where it is JSON, as a value. */
export interface Answer {
  status: number;
  headers: IncomingMessage['headers'];
  text: string;
  json: unknown;
}

export interface CallOptions {
  /** Sent as JSON; a string or a buffer as it is. */
  body?: unknown;
  headers?: Record<string, string>;
  /** `null` sends none. @default the admin's */
  token?: string | null;
}

/** The API over real HTTP on a cell of its own. */
export interface TestApi extends TestCell {
  api: Api;
  url: string;
  adminToken: string;
  transport: Transport;
  metrics: Metrics;
  logger: Logger;
  /** Projects for which a wake was sent. */
  wakes: string[];
  logLines: () => Record<string, unknown>[];
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  get(path: string, options?: CallOptions): Promise<Answer>;
  post(path: string, body?: unknown, options?: CallOptions): Promise<Answer>;
  /** A token with other rights. */
  token(scope: TokenScope, project?: string): Promise<string>;
}

/** Tests ask faster than people do. */
const unlimited = { readsPerSecond: 0, writesPerSecond: 0, failuresPerSecond: 0, burstSeconds: 0 };

export async function testApi(
  config: Partial<ApiConfig> = {},
  makeTransport?: (logger: ReturnType<typeof recordingLogger>['logger']) => Transport,
  place: Pick<TestCellOptions, 'storage' | 'freeBytes' | 'parent' | 'maxOpen' | 'startMs' | 'from'> = {},
): Promise<TestApi> {
  const { logger, lines } = recordingLogger();
  const wakes: string[] = [];
  const carrier = makeTransport?.(logger) ?? createInProcessTransport({ logger });
  const transport: Transport = {
    ...carrier,
    wake(project) {
      wakes.push(project);
      carrier.wake(project);
    },
  };
  const metrics = createMetrics('api');
  const cell = await testCell({
    ...place,
    hooks: storeHooks({ transport, metrics, logger, fail: (error) => logger.fatal({ err: error }, 'cannot go on') }),
  });
  const api = createApi(
    { host: '127.0.0.1', port: 0, transportName: 'test', rateLimits: unlimited, ...config },
    { cell: cell.cell, transport, logger, metrics },
  );
  await api.start();
  const { url } = api;
  const adminToken = cell.cell.directory.adminToken();

  const call = async (method: string, path: string, options: CallOptions = {}): Promise<Answer> => {
    const { body, headers = {}, token = adminToken } = options;
    const sent = typeof body === 'string' || Buffer.isBuffer(body) || body === undefined ? body : JSON.stringify(body);
    return exchange(`${url}${path}`, method, sent, {
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(sent === undefined ? {} : { 'content-type': 'application/json' }),
      // Without its length, Node sends no body with a DELETE.
      ...(sent === undefined || 'transfer-encoding' in headers
        ? {}
        : { 'content-length': String(Buffer.byteLength(sent)) }),
      ...headers,
    });
  };

  let tokens = 0;
  return {
    ...cell,
    api,
    url,
    adminToken,
    transport,
    metrics,
    logger,
    wakes,
    logLines: lines,
    call,
    get: (path, options) => call('GET', path, options),
    post: (path, body, options) => call('POST', path, { body, ...options }),
    async token(scope, project) {
      tokens += 1;
      const name = `${scope}-${String(tokens)}`;
      const agents = scope === 'handler' ? ['ada'] : undefined;
      return (await cell.cell.catalog.tokens.create({ name, scope, project, agents, actor: 'test' })).secret;
    },
    async close() {
      await api.stop();
      await transport.close();
      await cell.close();
    },
  };
}

/** One request on a connection of its own, with exactly these headers. */
function exchange(
  url: string,
  method: string,
  body: string | Buffer | undefined,
  headers: Record<string, string>,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(url, { method, headers, agent: false }, (response) => {
      text(response).then((received) => {
        const type = response.headers['content-type'] ?? '';
        const json: unknown = /json/.test(type) && received !== '' ? JSON.parse(received) : undefined;
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text: received, json });
      }, reject);
    });
    request.once('error', reject);
    request.end(body);
  });
}
