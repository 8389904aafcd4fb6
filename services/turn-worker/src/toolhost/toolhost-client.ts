import { randomBytes } from 'node:crypto';
import * as z from 'zod';
import {
  attemptsProtocol,
  type AttemptRef,
  attemptEnded,
  type AttemptEnded,
  type CaptureRequest,
  type ClaimAnswer,
  claimAnswer,
  type ClaimRequest,
  type CompleteRequest,
  type FailRequest,
  type GoneProjects,
  goneProjects,
  type HeartbeatAnswer,
  heartbeatAnswer,
  type MarkRequest,
  type MeasureAnswer,
  measureAnswer,
} from '@suzumio/protocol/attempts';
import { type LiveAnswer, liveAnswer, type LiveReport } from '@suzumio/protocol/live';
import { type LookAnswer, lookAnswer, type LookReport, type WorkspaceBase } from '@suzumio/protocol/repository';
import {
  type ComparisonClaim,
  type ComparisonEnd,
  type ComparisonGranted,
  comparisonGranted,
  type ComparisonOutcome,
  type RepositoryDiffJob,
} from '@suzumio/protocol/repository-diff';
import type { TurnJob } from '@suzumio/protocol/turn-job';
import { HttpClient, type HttpRequest, isServersFault } from '@suzumio/protocol/http-client';
import { HttpRefusal, HttpUnavailable } from '@suzumio/protocol/http-failures';
import type { RetryOptions } from '@suzumio/protocol/retry';
import type { CellConfig } from '../config.js';
import { keepConnections, type KeptConnections, type StreamedBody } from './kept-connections.js';

const claimed = z.union([claimAnswer, measureAnswer]);

/** A worker does not wait long for an unavailable ToolHost: jobs may come when it is back. */
const greetingTimeoutMs = 3_000;
const contentTimeoutMs = 30_000;

/** How requests are retried while the ToolHost does not answer. */
export const whileUnavailable = {
  firstDelayMs: 100,
  longestDelayMs: 2_000,
  isRetryable: (error) => error instanceof HttpUnavailable,
} as const satisfies RetryOptions;

type Body = Buffer | StreamedBody;

/** An idempotency key for a claim: repeating the claim gets the same answer. */
export function newClaimId(): string {
  return randomBytes(16).toString('hex');
}

/** The client of one cell's ToolHost. */
export class ToolHostClient {
  readonly #connections: KeptConnections;
  readonly #http: HttpClient<Body>;
  #credential: string;

  /** @param callMs how long a request without content may go without traffic */
  constructor(
    cell: CellConfig,
    private readonly worker: string,
    private readonly callMs: number,
  ) {
    this.#connections = keepConnections(cell.toolhostUrl);
    const { exchange } = this.#connections;
    this.#http = new HttpClient({ url: cell.toolhostUrl, exchange, isTransient });
    this.#credential = cell.credential;
  }

  /**
   * Claims a turn, or is asked to measure its mounts first.
   *
   * @throws HttpRefusal when there is nothing to run for this job
   * @throws HttpUnavailable when the same claim may be retried
   */
  async claim(
    job: TurnJob,
    { claimId, engine, mounts }: Pick<ClaimRequest, 'claimId' | 'engine' | 'mounts'>,
  ): Promise<ClaimAnswer | MeasureAnswer> {
    return this.#http.json(claimed, {
      method: 'POST',
      path: `/projects/${job.project}/turns/${job.turn}/claim`,
      token: this.#credential,
      json: { claimId, worker: this.worker, engine, protocol: attemptsProtocol, mounts } satisfies ClaimRequest,
      timeoutMs: this.callMs,
    });
  }

  /** Uses another credential from now on. */
  useCredential(credential: string): void {
    this.#credential = credential;
  }

  /** Checks the credential. */
  async greet(): Promise<void> {
    await this.gone([], greetingTimeoutMs);
  }

  /** Those of `projects` that were deleted. */
  async gone(projects: GoneProjects['projects'], timeoutMs = this.callMs): Promise<GoneProjects['projects']> {
    const answer = await this.#http.json(goneProjects, {
      method: 'POST',
      path: '/projects/gone',
      token: this.#credential,
      json: { projects } satisfies GoneProjects,
      timeoutMs,
    });
    return answer.projects;
  }

  /** The routes of one attempt, with its lease token. */
  attempt(ref: AttemptRef, leaseToken: string): AttemptClient {
    return new AttemptClient(this.#http, ref, { leaseToken, callMs: this.callMs });
  }

  /** A comparison of commits, with this worker's credential. */
  comparison({ project, epoch, diff }: RepositoryDiffJob, claim: string): ComparisonClient {
    return new ComparisonClient(this.#http, {
      path: `/projects/${project}/repository-diffs/${String(diff)}`,
      token: this.#credential,
      shown: { epoch, claim },
      callMs: this.callMs,
    });
  }

  close(): void {
    this.#connections.close();
  }
}

/** The ToolHost's routes of one comparison. Every call may be retried. */
export class ComparisonClient {
  constructor(
    private readonly http: HttpClient<Body>,
    private readonly at: { path: string; token: string; shown: ComparisonClaim; callMs: number },
  ) {}

  /** @throws HttpRefusal where another worker has it, or nobody waits for it any more */
  claim(): Promise<ComparisonGranted> {
    return this.http.json(comparisonGranted, { ...this.#at('claim'), json: this.at.shown });
  }

  /** A pack as a stream, whose hash is not checked. */
  async pack(sha256: string): Promise<AsyncIterable<Uint8Array>> {
    const { epoch, claim } = this.at.shown;
    const route = `packs/${sha256}?epoch=${String(epoch)}&claim=${claim}`;
    return (await this.http.open({ ...this.#at(route), method: 'GET', timeoutMs: contentTimeoutMs })).body;
  }

  async end(outcome: ComparisonOutcome): Promise<void> {
    await this.http.send({ ...this.#at('end'), json: { ...this.at.shown, outcome } satisfies ComparisonEnd });
  }

  #at(route: string): Pick<HttpRequest<Body>, 'path' | 'token' | 'timeoutMs'> & { method: 'POST' } {
    const { path, token, callMs } = this.at;
    return { method: 'POST', path: `${path}/${route}`, token, timeoutMs: callMs };
  }
}

/** The ToolHost's routes of one attempt. Every call may be retried. */
export class AttemptClient {
  readonly #path: string;

  constructor(
    private readonly http: HttpClient<Body>,
    ref: AttemptRef,
    private readonly by: { leaseToken: string; callMs: number },
  ) {
    this.#path = `/projects/${ref.project}/turns/${ref.turn}/attempts/${ref.attempt}`;
  }

  heartbeat(timeoutMs: number, signal: AbortSignal): Promise<HeartbeatAnswer> {
    return this.http.json(heartbeatAnswer, this.#at('heartbeat', { method: 'POST', json: {}, timeoutMs, signal }));
  }

  complete(request: CompleteRequest): Promise<AttemptEnded> {
    const report = { method: 'POST', json: request } as const;
    return this.http.json(attemptEnded, this.#at('complete', report));
  }

  fail(request: FailRequest): Promise<AttemptEnded> {
    const report = { method: 'POST', json: request } as const;
    return this.http.json(attemptEnded, this.#at('fail', report));
  }

  /** Passes on what commands print. Whoever follows does without what is lost, so that it is not sent again. */
  live(report: LiveReport): Promise<LiveAnswer> {
    return this.http.json(liveAnswer, this.#at('live', { method: 'POST', json: report }));
  }

  async capture(request: CaptureRequest): Promise<void> {
    await this.http.send(this.#at('capture', { method: 'POST', json: request }));
  }

  async mark(request: MarkRequest): Promise<void> {
    await this.http.send(this.#at('mark', { method: 'POST', json: request }));
  }

  async putLog(body: Buffer): Promise<void> {
    await this.http.send(this.#at('log', { method: 'PUT', body, timeoutMs: contentTimeoutMs }));
  }

  async hasContent(sha256: string): Promise<boolean> {
    try {
      await this.http.send(this.#at(`content/${sha256}`, { method: 'HEAD' }));
      return true;
    } catch (error) {
      if (error instanceof HttpRefusal && error.status === 404) return false;
      throw error;
    }
  }

  async putContent(sha256: string, body: Body): Promise<void> {
    await this.http.send(this.#at(`content/${sha256}`, { method: 'PUT', body, timeoutMs: contentTimeoutMs }));
  }

  /** Records the clone that the agent's workspace begins with. */
  async putBase(base: WorkspaceBase): Promise<void> {
    await this.http.send(this.#at('base', { method: 'PUT', json: base }));
  }

  /** Records where the repository of the agent's workspace is, and returns what the turn is told. */
  putUpstream(report: LookReport): Promise<LookAnswer> {
    const request = this.#at('upstream', { method: 'PUT', json: report });
    return this.http.json(lookAnswer, request);
  }

  /** The content as a stream, whose hash is not checked. */
  async getContent(sha256: string): Promise<AsyncIterable<Uint8Array>> {
    const request = this.#at(`content/${sha256}`, { method: 'GET', timeoutMs: contentTimeoutMs });
    return (await this.http.open(request)).body;
  }

  #at(route: string, request: Omit<HttpRequest<Body>, 'path' | 'token'>): HttpRequest<Body> {
    const { leaseToken: token, callMs: timeoutMs } = this.by;
    return { timeoutMs, ...request, path: `${this.#path}/${route}`, token };
  }
}

/** 507 for a file means that there is no room, and retrying at once does not help. */
function isTransient(status: number, method: HttpRequest['method']): boolean {
  return isServersFault(status) && !(status === 507 && method === 'PUT');
}
