import { createHash, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type * as z from 'zod';
import {
  type ClaimAnswer,
  claimRequest,
  type CompleteRequest,
  completeRequest,
  type FailRequest,
  failRequest,
  goneProjects,
} from '@suzumio/protocol/attempts';
import { type ToolRequest, toolRequest } from '@suzumio/protocol/runner';
import { beginStepRequest, endStepRequest } from '@suzumio/protocol/sandbox-steps';
import { entriesOf, readSnapshot, type SnapshotEntry } from '@suzumio/protocol/workspace-snapshot';
import { until } from './until.js';

export const credential = 'the-credential-of-this-worker';

/** What a turn's claim is answered with, and what became of it. */
export interface TestTurn {
  answer: ClaimAnswer;
  claims: { claimId: string; engine: string; worker: string }[];
  heartbeats: number;
  cancel: boolean;
  log: string | undefined;
  completed: CompleteRequest | undefined;
  failed: FailRequest | undefined;
  endedAt: number | undefined;
}

/** Answers a request before the ToolHost does; `undefined` lets it pass. */
export type Interceptor = (request: IncomingMessage) => { status: number; code?: string } | 'hang' | 'cut' | undefined;

/** A ToolHost without a store: the attempts protocol and the runner's routes, over real HTTP. */
export class TestToolHost {
  readonly turns = new Map<string, TestTurn>();
  readonly contents = new Map<string, Buffer>();
  readonly toolCalls: (ToolRequest & { authorization: string | undefined })[] = [];
  /** What steps of the sandbox came to, in order. */
  readonly stepResults: z.output<typeof endStepRequest>['result'][] = [];
  readonly runnerRequests: string[] = [];
  readonly contentPuts: string[] = [];
  /** Deleted projects, as `name.epoch`. */
  readonly gone = new Set<string>();
  intercept: Interceptor = () => undefined;

  private constructor(
    private readonly worker: Server,
    private readonly runner: Server,
  ) {}

  static async start(): Promise<TestToolHost> {
    const worker = createServer();
    const runner = createServer();
    const host = new TestToolHost(worker, runner);
    for (const [server, answer] of [
      [worker, host.#answerWorker.bind(host)],
      [runner, host.#answerRunner.bind(host)],
    ] as const) {
      server.on('request', (request, response) => {
        answer(request, response).catch((error: unknown) => json(response, 500, { error: String(error) }));
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    }
    return host;
  }

  get toolhostUrl(): string {
    return urlOf(this.worker);
  }

  get runnerUrl(): string {
    return urlOf(this.runner);
  }

  get runnerPort(): number {
    return (this.runner.address() as AddressInfo).port;
  }

  turn(id: string): TestTurn {
    const turn = this.turns.get(id);
    if (turn === undefined) throw new Error(`no turn ${id}`);
    return turn;
  }

  add(answer: ClaimAnswer): TestTurn {
    const turn: TestTurn = {
      answer,
      claims: [],
      heartbeats: 0,
      cancel: false,
      log: undefined,
      completed: undefined,
      failed: undefined,
      endedAt: undefined,
    };
    this.turns.set(answer.input.turn.id, turn);
    return turn;
  }

  put(content: Buffer | string): string {
    const bytes = Buffer.from(content);
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    this.contents.set(sha256, bytes);
    return sha256;
  }

  /** What is in a snapshot that was uploaded, by its path. */
  async filesOf(snapshot: string | null | undefined): Promise<Record<string, SnapshotEntry>> {
    const read = (sha256: string) => Promise.resolve(this.contents.get(sha256) ?? Buffer.alloc(0));
    const entries = entriesOf(await readSnapshot(snapshot ?? '', read));
    return Object.fromEntries([...entries].map(({ path, entry }) => [path, entry]));
  }

  async ended(id: string): Promise<TestTurn> {
    const turn = this.turn(id);
    await until(() => turn.endedAt !== undefined, `the end of ${id}`, { show: () => turn });
    return turn;
  }

  async stop(): Promise<void> {
    for (const server of [this.worker, this.runner]) {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  }

  async #answerWorker(request: IncomingMessage, response: ServerResponse): Promise<unknown> {
    if (this.#intercepted(request, response)) return;
    if (request.url === '/projects/gone') {
      if (request.headers.authorization !== `Bearer ${credential}`) return problem(response, 401, 'unauthenticated');
      const { projects } = goneProjects.parse(JSON.parse((await buffer(request)).toString()));
      return json(response, 200, {
        projects: projects.filter(({ project, epoch }) => this.gone.has(`${project}.${epoch}`)),
      });
    }
    const [, , , , id = '', ...rest] = (request.url ?? '').split('/');
    const turn = this.turns.get(id);
    if (turn === undefined) return problem(response, 404, 'turn-unknown');
    const { answer } = turn;
    if (rest[0] === 'claim') {
      if (request.headers.authorization !== `Bearer ${credential}`) return problem(response, 401, 'unauthenticated');
      turn.claims.push(claimRequest.parse(JSON.parse((await buffer(request)).toString())));
      return json(response, 200, answer);
    }
    const [, attempt, what, sha256 = ''] = rest;
    if (request.headers.authorization !== `Bearer ${answer.leaseToken}` || attempt !== String(answer.attempt)) {
      return problem(response, 401, 'token-rejected');
    }
    if (what === 'content') return this.#answerContent(request, response, sha256);
    const body = await buffer(request);
    switch (what ?? '') {
      case 'heartbeat':
        turn.heartbeats += 1;
        return json(response, 200, { leaseMs: turn.cancel ? 0 : answer.leaseMs, cancel: turn.cancel });
      case 'log':
        turn.log = body.toString();
        return response.writeHead(204).end();
      case 'complete':
        turn.completed = completeRequest.parse(JSON.parse(body.toString()));
        turn.endedAt = performance.now();
        return json(response, 200, { turn: 'completed' });
      case 'fail':
        turn.failed = failRequest.parse(JSON.parse(body.toString()));
        turn.endedAt = performance.now();
        return json(response, 200, { turn: 'failed' });
      default:
        return problem(response, 404, 'not-found');
    }
  }

  async #answerRunner(request: IncomingMessage, response: ServerResponse): Promise<unknown> {
    this.runnerRequests.push(`${request.method ?? ''} ${request.url ?? ''}`);
    if (this.#intercepted(request, response)) return;
    if (request.url?.startsWith('/content/')) return this.#answerContent(request, response, request.url.slice(9));
    const said: unknown = JSON.parse((await buffer(request)).toString());
    if (request.url === '/tool/begin') {
      beginStepRequest.parse(said);
      return json(response, 200, { begun: true });
    }
    if (request.url === '/tool/end') {
      const { result } = endStepRequest.parse(said);
      this.stepResults.push(result);
      return json(response, 200, { result });
    }
    const body = toolRequest.parse(said);
    const turn = this.turns.get(body.turn);
    if (request.headers.authorization !== `Bearer ${turn?.answer.toolToken ?? ''}`)
      return problem(response, 401, 'token-rejected');
    this.toolCalls.push({ ...body, authorization: request.headers.authorization });
    if (body.tool === 'test.refused') return problem(response, 422, 'tool-input-invalid');
    return json(response, 200, { output: { echo: body.input } });
  }

  async #answerContent(request: IncomingMessage, response: ServerResponse, sha256: string): Promise<unknown> {
    switch (request.method ?? '') {
      case 'PUT': {
        const bytes = await buffer(request);
        if (createHash('sha256').update(bytes).digest('hex') !== sha256)
          return problem(response, 422, 'content-mismatch');
        this.contentPuts.push(sha256);
        this.contents.set(sha256, bytes);
        return response.writeHead(204).end();
      }
      case 'HEAD':
        return response.writeHead(this.contents.has(sha256) ? 200 : 404).end();
      default: {
        const content = this.contents.get(sha256);
        if (content === undefined) return problem(response, 404, 'artifact-unknown');
        return response.writeHead(200, { 'content-length': content.length }).end(content);
      }
    }
  }

  #intercepted(request: IncomingMessage, response: ServerResponse): boolean {
    const instead = this.intercept(request);
    if (instead === undefined) return false;
    if (instead === 'cut') request.destroy();
    else if (instead !== 'hang') problem(response, instead.status, instead.code ?? 'store-busy');
    return true;
  }
}

export function newTurnId(): string {
  const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
  return `turn_${Array.from(randomBytes(26), (byte) => alphabet[byte % 32]).join('')}`;
}

function urlOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function json(response: ServerResponse, status: number, body: unknown): ServerResponse {
  return response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

function problem(response: ServerResponse, status: number, code: string): ServerResponse {
  const body = { type: `urn:suzumio:problem:${code}`, title: code, status, code, detail: `a test says ${code}` };
  return response.writeHead(status, { 'content-type': 'application/problem+json' }).end(JSON.stringify(body));
}
