import { createHash, randomBytes } from 'node:crypto';
import { storeHooks } from '@suzumio/control-plane/store-hooks';
import { createInProcessTransport } from '@suzumio/runtime/queue/in-process-transport';
import type { Transport } from '@suzumio/runtime/queue/transport';
import type { ClaimAnswer } from '@suzumio/protocol/attempts';
import { createMetrics, type Metrics } from '@suzumio/runtime/observability/metrics';
import { defaultPolicy, type Policy } from '@suzumio/core/policy/policy';
import { postMessage } from '@suzumio/store/mail/post-message';
import { startTurns } from '@suzumio/store/turns/start-turns';
import { createToolhost, type Toolhost, type ToolhostConfig } from '@suzumio/toolhost';
import { type TestCell, testCell, type TestCellOptions } from '../../../test/support/cell.js';
import { recordingLogger } from '../../../test/support/logs.js';

export interface Answer {
  status: number;
  body: Record<string, unknown>;
}

/** A ToolHost over real HTTP, with the store behind it and a client that does what workers and runners do. */
export interface ToolhostBench {
  testing: TestCell;
  /** The one that runs. */
  readonly toolhost: Toolhost;
  logs: () => Record<string, unknown>[];
  wakes: string[];
  transport: Transport;
  workerToken: string;
  metrics: Metrics;
  /** Sends mail to an agent and queues its turn. */
  queueTurn(project: string, agent: string, body?: string): Promise<string>;
  claim(
    project: string,
    turn: string,
    options?: { claimId?: string; worker?: string; token?: string },
  ): Promise<Answer>;
  /** Queues a turn by mail and claims it. */
  begin(project: string, agent: string, body?: string): Promise<Begun>;
  post(url: string, token: string | undefined, body: unknown, headers?: Record<string, string>): Promise<Answer>;
  put(url: string, token: string, bytes: Uint8Array): Promise<Answer>;
  /** Stops it, opens its data anew, as a new process does, and starts another one in its place. */
  restart(config: Partial<ToolhostConfig>, whileClosed?: () => void): Promise<void>;
  close(): Promise<void>;
}

export interface Begun {
  turn: string;
  answer: ClaimAnswer;
  tool(tool: string, input: unknown, extra?: Record<string, unknown>): Promise<Answer>;
  /** Asks its model, as a runner does. */
  ask(question: object, headers?: Record<string, string>, signal?: AbortSignal | null): Promise<Response>;
  upload(text: string): Promise<{ sha256: string; sizeBytes: number }>;
  report(route: 'heartbeat' | 'complete' | 'fail', body?: unknown): Promise<Answer>;
}

/** A policy that lets projects use these providers. */
export function allowing(...providers: Policy['providers']): { policy: Policy } {
  return { policy: { ...defaultPolicy, providers } };
}

export function claimId(): string {
  return randomBytes(16).toString('hex');
}

export async function toolhostBench(
  config: Partial<ToolhostConfig> = {},
  secrets: Readonly<Record<string, string>> = {},
  place: Pick<TestCellOptions, 'storage' | 'freeBytes' | 'freeFiles' | 'parent' | 'startMs'> = {},
): Promise<ToolhostBench> {
  const { logger, lines } = recordingLogger();
  const transport = createInProcessTransport({ logger });
  const metrics = createMetrics('toolhost');
  const testing = await testCell({
    ...place,
    hooks: storeHooks({ transport, metrics, logger, fail: (error) => logger.fatal({ err: error }, 'cannot go on') }),
  });
  const wakes: string[] = [];
  transport.consumeWakes((project) => {
    wakes.push(project);
    return Promise.resolve();
  });
  const started = async (change: Partial<ToolhostConfig>) => {
    const local = { host: '127.0.0.1', port: 0 };
    const made = createToolhost(
      { worker: local, runner: local, transportName: 'test', ...change },
      { cell: testing.cell, transport, logger, metrics, secrets: { read: (name) => secrets[name] } },
    );
    await made.start();
    return made;
  };
  let toolhost = await started(config);
  const workerToken = testing.cell.directory.workerToken();

  const send = async (
    method: string,
    url: string,
    token: string | undefined,
    body: string | Buffer<ArrayBuffer>,
    type: string,
    more: Record<string, string> = {},
  ) => {
    const headers = {
      'content-type': type,
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...more,
    };
    const response = await fetch(url, { method, headers, body });
    const text = await response.text();
    return { status: response.status, body: (text === '' ? {} : JSON.parse(text)) as Record<string, unknown> };
  };
  const bench: ToolhostBench = {
    testing,
    get toolhost() {
      return toolhost;
    },
    logs: lines,
    wakes,
    transport,
    workerToken,
    metrics,
    async queueTurn(project, agent, body = 'Go.') {
      const started = await testing.write(project, (tx) => {
        postMessage(tx, { sender: 'user', recipient: agent, priority: 'P1', body, actor: 'test' });
        return startTurns(tx);
      });
      const [turn] = started;
      if (turn === undefined) throw new Error(`no turn of ${agent} was started`);
      return turn;
    },
    claim: (project, turn, { claimId: id = claimId(), worker = 'w1', token = workerToken } = {}) =>
      bench.post(`${toolhost.workerUrl}/projects/${project}/turns/${turn}/claim`, token, {
        claimId: id,
        worker,
        engine: 'test',
        protocol: 2,
      }),
    async begin(project, agent, body) {
      const turn = await bench.queueTurn(project, agent, body);
      const claimed = await bench.claim(project, turn);
      if (claimed.status !== 200) throw new Error(`claim answered ${JSON.stringify(claimed)}`);
      return begun(bench, project, agent, turn, claimed.body as unknown as ClaimAnswer);
    },
    post: (url, token, body, headers) => send('POST', url, token, JSON.stringify(body), 'application/json', headers),
    put: (url, token, bytes) => send('PUT', url, token, Buffer.from(bytes), 'application/octet-stream'),
    async restart(change, whileClosed) {
      await toolhost.stop();
      await testing.restart(whileClosed);
      toolhost = await started(change);
    },
    async close() {
      await toolhost.stop();
      await transport.close();
      await testing.close();
    },
  };
  return bench;
}

/** What the worker and the runner of one attempt do. */
export function begun(bench: ToolhostBench, project: string, agent: string, turn: string, answer: ClaimAnswer): Begun {
  const { toolhost } = bench;
  return {
    turn,
    answer,
    tool: (tool, input, extra = {}) =>
      bench.post(`${toolhost.runnerUrl}/tool`, answer.toolToken, { project, agent, turn, tool, input, ...extra }),
    ask: (question, headers = {}, signal = null) =>
      fetch(`${bench.toolhost.runnerUrl}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${answer.toolToken}`, 'content-type': 'application/json', ...headers },
        body: JSON.stringify(question),
        signal,
      }),
    async upload(text) {
      const bytes = Buffer.from(text);
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      const put = await bench.put(`${toolhost.runnerUrl}/content/${sha256}`, answer.toolToken, bytes);
      if (put.status !== 204) throw new Error(`upload answered ${JSON.stringify(put)}`);
      return { sha256, sizeBytes: bytes.length };
    },
    report: (route, body = {}) =>
      bench.post(
        `${toolhost.workerUrl}/projects/${project}/turns/${turn}/attempts/${String(answer.attempt)}/${route}`,
        answer.leaseToken,
        body,
      ),
  };
}
