import { randomBytes } from 'node:crypto';
import {
  attemptsProtocol,
  type AttemptRef,
  attemptEnded,
  type AttemptEnded,
  type ClaimAnswer,
  claimAnswer,
  type CompleteRequest,
  type FailRequest,
  type GoneProjects,
  goneProjects,
  type HeartbeatAnswer,
  heartbeatAnswer,
} from '@suzumio/protocol/attempts';
import type { TurnJob } from '@suzumio/protocol/turn-job';
import type { Readable } from 'node:stream';
import type { z } from 'zod';
import type { CellConfig } from '../config.js';
import { HttpClient, type HttpCall } from './http-client.js';
import { ToolHostRefusal, ToolHostUnavailable } from './toolhost-errors.js';

const callTimeoutMs = 10_000;
/** A worker does not wait for long for a ToolHost that is away: jobs may come when it is back. */
const greetingTimeoutMs = 3_000;
const contentTimeoutMs = 30_000;

/** A fresh name for a claim: whoever repeats it gets the same answer. */
export function newClaimId(): string {
  return randomBytes(16).toString('hex');
}

/** One cell's ToolHost, as its workers see it. */
export class ToolHostClient {
  readonly #http: HttpClient;
  #credential: string;

  constructor(
    cell: CellConfig,
    private readonly worker: string,
  ) {
    this.#http = new HttpClient(cell.toolhostUrl);
    this.#credential = cell.credential;
  }

  /**
   * Asks for a turn.
   *
   * @throws ToolHostRefusal when there is nothing to run for this job
   * @throws ToolHostUnavailable when the same claim may be repeated
   */
  async claim(job: TurnJob, claimId: string, engine: string): Promise<ClaimAnswer> {
    const { body } = await this.#http.send({
      method: 'POST',
      path: `projects/${job.project}/turns/${job.turn}/claim`,
      token: this.#credential,
      json: { claimId, worker: this.worker, engine, protocol: attemptsProtocol },
      timeoutMs: callTimeoutMs,
    });
    return parse(claimAnswer, body);
  }

  /** Shows another credential from now on. */
  useCredential(credential: string): void {
    this.#credential = credential;
  }

  /** Shows the credential, and asks for nothing. */
  async greet(): Promise<void> {
    await this.gone([], greetingTimeoutMs);
  }

  /** Those of `projects` that were deleted. */
  async gone(projects: GoneProjects['projects'], timeoutMs = callTimeoutMs): Promise<GoneProjects['projects']> {
    const { body } = await this.#http.send({
      method: 'POST',
      path: 'projects/gone',
      token: this.#credential,
      json: { projects } satisfies GoneProjects,
      timeoutMs,
    });
    return parse(goneProjects, body).projects;
  }

  /** The routes of one attempt, with its lease token. */
  attempt(ref: AttemptRef, leaseToken: string): AttemptClient {
    return new AttemptClient(this.#http, ref, leaseToken);
  }

  close(): void {
    this.#http.close();
  }
}

/** What a worker tells and asks the ToolHost about one attempt. Every call may be repeated. */
export class AttemptClient {
  readonly #path: string;

  constructor(
    private readonly http: HttpClient,
    ref: AttemptRef,
    private readonly leaseToken: string,
  ) {
    this.#path = `projects/${ref.project}/turns/${ref.turn}/attempts/${ref.attempt}`;
  }

  async heartbeat(timeoutMs: number, signal: AbortSignal): Promise<HeartbeatAnswer> {
    const { body } = await this.#send({ method: 'POST', path: 'heartbeat', json: {}, timeoutMs, signal });
    return parse(heartbeatAnswer, body);
  }

  async complete(request: CompleteRequest): Promise<AttemptEnded> {
    const { body } = await this.#send({ method: 'POST', path: 'complete', json: request, timeoutMs: callTimeoutMs });
    return parse(attemptEnded, body);
  }

  async fail(request: FailRequest): Promise<AttemptEnded> {
    const { body } = await this.#send({ method: 'POST', path: 'fail', json: request, timeoutMs: callTimeoutMs });
    return parse(attemptEnded, body);
  }

  async putLog(bytes: Buffer): Promise<void> {
    await this.#send({ method: 'PUT', path: 'log', content: { bytes }, timeoutMs: contentTimeoutMs });
  }

  async hasContent(sha256: string): Promise<boolean> {
    try {
      await this.#send({ method: 'HEAD', path: `content/${sha256}`, timeoutMs: callTimeoutMs });
      return true;
    } catch (error) {
      if (error instanceof ToolHostRefusal && error.status === 404) return false;
      throw error;
    }
  }

  async putContent(sha256: string, content: NonNullable<HttpCall['content']>): Promise<void> {
    await this.#send({ method: 'PUT', path: `content/${sha256}`, content, timeoutMs: contentTimeoutMs });
  }

  /** The content as a stream, unchecked. */
  async getContent(sha256: string): Promise<Readable> {
    return this.http.open({
      method: 'GET',
      path: `${this.#path}/content/${sha256}`,
      token: this.leaseToken,
      timeoutMs: contentTimeoutMs,
    });
  }

  #send(call: Omit<HttpCall, 'token'>): Promise<{ status: number; body: Buffer }> {
    return this.http.send({ ...call, path: `${this.#path}/${call.path}`, token: this.leaseToken });
  }
}

/** An answer that does not parse comes from something else than a ToolHost that works: worth another try. */
function parse<T>(schema: z.ZodType<T>, body: Buffer): T {
  try {
    return schema.parse(JSON.parse(body.toString('utf8')));
  } catch (error) {
    throw new ToolHostUnavailable('The ToolHost gave an answer that is not of the attempts protocol.', {
      cause: error,
    });
  }
}
