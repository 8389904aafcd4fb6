import type * as z from 'zod';
import type { FetchBody } from '@suzumio/protocol/fetch-exchange';
import type { JsonOf, MediaOf, OperationShape, ParamsOf } from '../operations/operation.js';
import { allOperations, type Operations } from '../operations/operations.js';
import { callOf } from './calls.js';
import { type ApiAddress, type AskOptions, makeClient, type OwnApi } from './make-client.js';

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
  ? MediaOf<Shape> extends `text/${'plain' | 'markdown' | 'html' | 'x-diff'}`
    ? string
    : AsyncIterable<Uint8Array>
  : JsonOf<Shape>;

/** A client of the HTTP API. Every method throws a SuzumioError: the server's own, or `server-unreachable`. */
export function createClient(api: ApiAddress | OwnApi): Client {
  return makeClient(api, { calls, parserOf: (id) => parsers[id] }) as unknown as Client;
}

const calls = Object.fromEntries(allOperations.map((operation) => [operation.id, callOf(operation)]));

const parsers: Readonly<Record<string, z.ZodType | undefined>> = Object.fromEntries(
  allOperations.map(({ id, answers }) => [id, Object.values(answers)[0]?.content?.['application/json']]),
);
