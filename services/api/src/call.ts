import type { Request, Response } from 'express';
import type * as z from 'zod';
import type { OperationShape, ParamsOf } from '@suzumio/contract/operations/operation';
import { parse } from '@suzumio/runtime/http/validate';
import type { ApiIdentity } from '@suzumio/store/cell/api-tokens';
import type { ProjectStore } from '@suzumio/store/projects/project-store';
import type { SqlReader } from '@suzumio/store/sqlite/sql';
import type { Json, Tx } from '@suzumio/store/sqlite/tx';
import type { IdempotencyKey } from '@suzumio/store/sqlite/once';
import { identityOf } from './auth.js';
import { commitOnce, keyOf } from './commit-once.js';
import type { ApiContext } from './context.js';
import { withProject } from './project-access.js';

/** A request for one operation, parsed, with what most operations need to answer. */
export class Call<Shape extends OperationShape> {
  readonly params: ParamsOf<Shape>;
  readonly query: Parsed<Shape['query']>;
  readonly body: Parsed<Shape['body']>;

  /** @throws SuzumioError `invalid-request` */
  constructor(
    { query, body }: Shape,
    readonly context: ApiContext,
    readonly request: Request,
    readonly response: Response,
  ) {
    this.params = request.params as ParamsOf<Shape>;
    this.query = (query && parse(query, request.query, 'query')) as Parsed<Shape['query']>;
    this.body = (body && parse(body, bodyOf(request), 'body')) as Parsed<Shape['body']>;
  }

  /** The identity behind the request. */
  get identity(): ApiIdentity {
    return identityOf(this.response);
  }

  /** The actor of the request's effects. */
  get actor(): string {
    return this.identity.name;
  }

  /** Identifies the request, so that its repetition is recognised; undefined without an `Idempotency-Key`. */
  get key(): IdempotencyKey | undefined {
    return keyOf(this.request, this.response, bodyOf(this.request));
  }

  /** Sets the `Location` of what was created. */
  locate(path: string): void {
    this.response.location(`${this.context.publicPath}${path}`);
  }

  /**
   * Runs `body` with the store of the project that the path names.
   *
   * @throws SuzumioError `forbidden`, `project-unknown`
   */
  withProject<Result>(body: (store: ProjectStore) => Promise<Result> | Result): Promise<Result> {
    return withProject(this.context, this.response, this.#project, body);
  }

  /** Reads of that project, all from one snapshot. */
  read<Result>(query: (reader: SqlReader, store: ProjectStore) => Result): Promise<Result> {
    return this.withProject((store) => store.snapshot((reader) => query(reader, store)));
  }

  /** Runs a verb on that project, once for each idempotency key, and wakes its scheduler. */
  async write<Answer extends Json>(verb: (tx: Tx) => Answer): Promise<Answer> {
    const { key } = this;
    const { answer } = await this.withProject((store) => commitOnce(store, key, verb));
    this.context.transport.wake(this.#project);
    return answer;
  }

  get #project(): string {
    const { project } = this.params as { project?: string };
    if (project === undefined) throw new Error(`${this.request.path} names no project`);
    return project;
  }
}

/** The parsed value of a schema; undefined where there is none. */
type Parsed<Schema> = Schema extends z.ZodType ? z.output<Schema> : undefined;

/** The request's body; a missing one has no fields. */
export function bodyOf(request: Request): unknown {
  return (request.body as unknown) ?? {};
}
