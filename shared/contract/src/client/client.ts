import type { z } from 'zod';
import { type FetchBody, fetchExchange } from '@suzumio/protocol/fetch-exchange';
import { type HttpAnswer, HttpClient, type HttpRequest } from '@suzumio/protocol/http-client';
import { longestWaitMs } from '../operations/events.js';
import type { JsonOf, MediaOf, Operation, OperationShape, ParamsOf } from '../operations/operation.js';
import { operations, type Operations } from '../operations/operations.js';
import { failureOf, unreachable } from './failures.js';

/** A server's address and token. */
export interface ApiAddress {
  readonly url: string;
  readonly token: string;
}

export interface AskOptions {
  /** A request that is sent twice with the same key takes effect once. */
  readonly idempotencyKey?: string;
  readonly signal?: AbortSignal;
}

/** Every operation of the API as a method: `api.listTasks({ project, query: { state: 'open' } })`. */
export type Client = { readonly [Id in keyof Operations]: Ask<Operations[Id]> };

type Ask<Shape extends OperationShape> = (
  ...asked: Partial<InputOf<Shape>> extends InputOf<Shape>
    ? [input?: InputOf<Shape>, options?: AskOptions]
    : [input: InputOf<Shape>, options?: AskOptions]
) => Promise<AnswerOf<Shape>>;

/** An operation's input: its path's parameters, its query and its body. */
export type InputOf<Shape extends OperationShape> = ParamsOf<Shape> &
  Field<'query', Given<Shape['query']>> &
  Field<'body', Shape extends { upload: object } ? FetchBody : Given<Shape['body']>>;

/** Nothing is given where nothing may be. */
type Given<Schema> = Schema extends z.ZodType ? Fields<z.input<Schema>> : never;
type Fields<Value> = Value extends Record<string, never> ? never : Value;
type Field<Name extends string, Value> = [Value] extends [never]
  ? unknown
  : Partial<Value> extends Value
    ? { readonly [N in Name]?: Value }
    : { readonly [N in Name]: Value };

/** Its answer: the value of JSON; otherwise a text, or a stream of bytes. */
type AnswerOf<Shape extends OperationShape> = [JsonOf<Shape>] extends [never]
  ? MediaOf<Shape> extends `text/${'plain' | 'markdown' | 'html'}`
    ? string
    : AsyncIterable<Uint8Array>
  : JsonOf<Shape>;

const answerWithinMs = 30_000;

/** A client of the HTTP API. Every method throws a SuzumioError: the server's own, or `server-unreachable`. */
export function createClient({ url, token }: ApiAddress): Client {
  const http = new HttpClient<FetchBody>({ url, exchange: fetchExchange() });
  const ask = async (operation: Operation, input: AnyInput = {}, { idempotencyKey, signal }: AskOptions = {}) => {
    const request: HttpRequest<FetchBody> = {
      method: operation.method === 'get' ? 'GET' : operation.method === 'post' ? 'POST' : 'DELETE',
      path: pathOf(operation, input),
      token,
      signal,
      timeoutMs: timeoutOf(operation),
      ...(idempotencyKey === undefined ? {} : { headers: { 'idempotency-key': idempotencyKey } }),
      ...(operation.upload ? { body: input.body as FetchBody } : operation.body ? { json: input.body ?? {} } : {}),
    };
    try {
      const { content } = mainAnswer(operation);
      const json = content?.['application/json'];
      if (json) return await http.json(json, request);
      if (isStream(operation)) return chunksOf(await http.open(request), url);
      return new TextDecoder().decode(await http.send(request));
    } catch (error) {
      throw failureOf(error, url);
    }
  };
  return Object.fromEntries(
    Object.entries(operations).map(([id, operation]) => [
      id,
      (input?: AnyInput, options?: AskOptions) => ask(operation, input, options),
    ]),
  ) as unknown as Client;
}

type AnyInput = Readonly<Record<string, unknown>>;

/** All items of a list, page by page. */
export async function allItems<Item, Place>(
  part: (after: Place | undefined) => Promise<{ items: Item[]; next?: Place }>,
  from?: Place,
): Promise<Item[]> {
  const items: Item[] = [];
  for (let after = from; ;) {
    const { items: more, next } = await part(after);
    items.push(...more);
    if (next === undefined) return items;
    after = next;
  }
}

function pathOf({ path }: Operation, input: AnyInput): string {
  const filled = path.replaceAll(/:(\w+)/g, (_whole, name: string) => encodeURIComponent(String(input[name])));
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries((input['query'] as object | undefined) ?? {})) {
    if (value !== undefined) query.set(name, String(value));
  }
  return query.size === 0 ? filled : `${filled}?${query.toString()}`;
}

/** An operation's usual answer. */
function mainAnswer({ answers }: Operation) {
  const [first] = Object.values(answers);
  if (!first) throw new Error('an operation without an answer');
  return first;
}

/** Whether an answer is a stream of bytes, rather than a value or a text. */
function isStream(operation: Operation): boolean {
  const media = Object.keys(mainAnswer(operation).content ?? {});
  return !media.some((type) => type === 'application/json' || /^text\/(?!event-stream)/.test(type));
}

/** The timeout of an operation: none for transfers, longer for operations that wait. */
function timeoutOf(operation: Operation): number | undefined {
  if (operation.upload !== undefined || isStream(operation)) return undefined;
  return operation.query && 'timeout' in operation.query.shape ? longestWaitMs + answerWithinMs : answerWithinMs;
}

async function* chunksOf({ body }: HttpAnswer, url: string): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch (error) {
    throw unreachable(url, error);
  }
}
