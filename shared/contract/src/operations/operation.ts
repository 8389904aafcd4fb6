import type { z } from 'zod';
import type { ErrorCode } from '../errors/codes.js';
import type { ApiScope } from '../model/access-token.js';

/** What an operation answers with one status. */
export interface OperationAnswer {
  description: string;
  /** What the body is, by media type; an answer without any has no body. */
  content?: Readonly<Record<string, z.ZodType>>;
  /** Headers that mean something, with what they mean. */
  headers?: Readonly<Record<string, string>>;
}

/** What an operation of the HTTP API takes, answers and refuses with. */
export interface OperationShape {
  method: 'get' | 'post' | 'delete';
  /** As Express writes it. */
  path: string;
  summary: string;
  /** What the summary leaves unsaid: what it changes, what comes of asking again. */
  description?: string;
  query?: z.ZodObject;
  /** Headers that it heeds, besides those that every one does. */
  headers?: Readonly<Record<string, { description: string; schema: z.ZodType }>>;
  /** Its JSON body. */
  body?: z.ZodType;
  /** Its body, where that is a file's bytes. */
  upload?: { media: string };
  /** Where in its body mail of the person is: all of it, or the field `message`. */
  mail?: 'body' | 'message';
  /** Whether it is only for tokens of the whole cell. */
  wholeCell?: boolean;
  /** What a token has to be for. @default `read` for a `GET`, else `write` */
  scope?: ApiScope;
  /** Whether it takes an `Idempotency-Key`. @default for a `POST` */
  repeatable?: boolean;
  answers: Readonly<Record<number, OperationAnswer>>;
  /** Codes that it alone, or few besides it, refuse with. */
  refusals?: readonly ErrorCode[];
}

/** One operation of the HTTP API: its route, description and client are made from it. */
export interface Operation extends OperationShape {
  /** Its name in clients. */
  id: string;
  /** What its description is grouped by. */
  group: Group;
}

/** What the operations are grouped by, in the order of their description. */
export const groups = {
  Projects: 'A task and its team: what is made from a project file, runs, hands in a report, and is approved.',
  Mail: 'Messages between the person and the agents, and the work that they assign. Mail is what wakes an agent.',
  Turns: 'One waking of an agent each, with its attempts, its calls of tools and models, and its conversation.',
  Artifacts: 'Files and directories that agents published or a person gave, and the report.',
  Events: "A project's timeline: as a list, as a stream, or waited for.",
  Usage: 'What models cost and what is stored, the budgets, and the pauses that keep turns from starting.',
  Profiles: 'Identities that outlive projects, and the teams that they belong to.',
  Access: 'Tokens, and what was refused to them.',
  Service: 'The server itself: its workers, its health, and this description.',
} as const;
type Group = keyof typeof groups;

/** The operations of one resource, by their names in clients. */
export function resource<const Shapes extends Readonly<Record<string, OperationShape>>>(group: Group, shapes: Shapes) {
  const named = Object.entries(shapes).map(([id, shape]) => [id, { ...shape, id, group }]);
  return Object.fromEntries(named) as { readonly [Id in keyof Shapes & string]: Shapes[Id] & { id: Id; group: Group } };
}

/** What has to stand in an operation's path, by name. */
export type ParamsOf<Shape extends OperationShape> = { readonly [Name in NamesIn<Shape['path']>]: string };

type NamesIn<Path extends string> = Path extends `${string}:${infer Rest}`
  ? Rest extends `${infer Name}/${infer Tail}`
    ? Name | NamesIn<`/${Tail}`>
    : Rest
  : never;

/** The bodies that an operation succeeds with, by media type. */
type ContentOf<Shape extends OperationShape> = Content<Shape['answers'][keyof Shape['answers']]>;
type Content<Answer> = Answer extends { content: infer Media } ? Media : never;

/** The media types of those bodies. */
export type MediaOf<Shape extends OperationShape> = KeysOfEach<ContentOf<Shape>>;
type KeysOfEach<Union> = Union extends unknown ? keyof Union : never;

/** What an operation answers as JSON; `never` where it answers something else. */
export type JsonOf<Shape extends OperationShape> = Json<ContentOf<Shape>>;
type Json<Media> = Media extends { 'application/json': infer Schema extends z.ZodType } ? z.output<Schema> : never;

/** A JSON body. */
export function json<Schema extends z.ZodType>(schema: Schema): { 'application/json': Schema } {
  return { 'application/json': schema };
}

/** Whether an operation is open to whoever can reach the server. */
export function isOpen({ path }: Operation): boolean {
  return !path.startsWith('/api/');
}

/** The least that a token has to be for, to be let do this. */
export function scopeOf({ method, scope = defaultScope(method) }: Operation): ApiScope {
  return scope;
}

/** What is needed where nothing else is said. */
export function defaultScope(method: string): ApiScope {
  return /^(get|head)$/i.test(method) ? 'read' : 'write';
}

/** Whether an operation can be asked for again under a key without happening twice. */
export function takesKey({ method, repeatable = method === 'post' }: Operation): boolean {
  return repeatable;
}

/** Every code that an operation refuses with for a reason that lies in the request or in what it is about. */
export function refusalsOf(operation: Operation): ErrorCode[] {
  const { method, path, upload, refusals = [] } = operation;
  const codes: ErrorCode[] = ['foreign-host'];
  if (!isOpen(operation)) codes.push('unauthenticated', 'forbidden', 'rate-limited', 'invalid-request');
  if (path.includes('/:project')) codes.push('project-unknown');
  if (method !== 'get') codes.push('foreign-origin', upload ? 'content-too-large' : 'body-too-large', 'store-busy');
  return [...codes, ...refusals];
}
