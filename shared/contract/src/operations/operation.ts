import type * as z from 'zod';
import type { ErrorCode } from '../errors/codes.js';
import type { ApiScope } from '../model/api-scopes.js';

/** An operation's answer with one status. */
export interface OperationAnswer {
  description: string;
  /** The body's schema by media type; without any, the answer has no body. */
  content?: Readonly<Record<string, z.ZodType>>;
  /** Significant headers, with descriptions. */
  headers?: Readonly<Record<string, string>>;
}

/** The shape of an operation of the HTTP API: its input, answers and refusals. */
export interface OperationShape {
  method: 'get' | 'post' | 'put' | 'delete';
  /** As Express writes it. */
  path: string;
  summary: string;
  /** What the summary leaves unsaid: what it changes, what comes of asking again. */
  description?: string;
  query?: z.ZodObject;
  /** Request headers that it uses, besides those of all operations. */
  headers?: Readonly<Record<string, { description: string; schema: z.ZodType }>>;
  /** Its JSON body. */
  body?: z.ZodType;
  /** Its body's media type, where that is a file. */
  upload?: { media: string };
  /** Where its body contains mail of the person: all of it, or the field `message`. */
  mail?: 'body' | 'message';
  /** Whether it needs no token, as everything outside `/api` does. */
  open?: boolean;
  /** Whether it requires a token of the whole cell. */
  wholeCell?: boolean;
  /** The least scope of a token. @default `read` for a `GET`, else `write` */
  scope?: ApiScope;
  /** Whether it changes something. @default unless it is a `GET` */
  writes?: boolean;
  /** Whether it takes an `Idempotency-Key`. @default for a `POST` */
  repeatable?: boolean;
  answers: Readonly<Record<number, OperationAnswer>>;
  /** Codes of refusals that are specific to it. */
  refusals?: readonly ErrorCode[];
}

/** One operation of the HTTP API: its route, description and client are made from it. */
export interface Operation extends OperationShape {
  /** Its method's name in clients. */
  id: string;
  /** The group of its description. */
  group: Group;
}

/** What the operations are grouped by, in the order of their description. */
export const groups = {
  Projects: 'A task and its team: what is made from a project file, runs, hands in a report, and is approved.',
  Mail: 'Messages between the person and the agents, and the work that they assign. Mail is what wakes an agent.',
  Turns: 'One waking of an agent each, with its attempts, its calls of tools and models, and its conversation.',
  Artifacts: 'Files and directories that agents published or a person gave, and the report.',
  Workspaces: "Agents' files: what each turn has changed, and how they were after it.",
  Git: 'The repository that agents of a project share, and their pushes to it.',
  Events: "A project's timeline: as a list, as a stream, or waited for.",
  Usage: 'What models cost and what is stored, the budgets, and the pauses that keep turns from starting.',
  Memory: 'What agents, and profiles across projects, keep in mind: summaries of older turns, and notes.',
  Profiles: 'Identities that outlive projects, and the teams that they belong to.',
  Access: 'Tokens, what was done with them, and what was refused to them.',
  Service: 'The server itself: its workers, its health, and this description.',
} as const;
type Group = keyof typeof groups;

/** The operations of one resource, by their names in clients. */
export function resource<const Shapes extends Readonly<Record<string, OperationShape>>>(group: Group, shapes: Shapes) {
  const named = Object.entries(shapes).map(([id, shape]) => [id, { ...shape, id, group }]);
  return Object.fromEntries(named) as { readonly [Id in keyof Shapes & string]: Shapes[Id] & { id: Id; group: Group } };
}

/** The parameters in an operation's path, by name. */
export type ParamsOf<Shape extends OperationShape> = { readonly [Name in NamesIn<Shape['path']>]: string };

type NamesIn<Path extends string> = Path extends `${string}:${infer Rest}`
  ? Rest extends `${infer Name}/${infer Tail}`
    ? Name | NamesIn<`/${Tail}`>
    : Rest
  : never;

/** The bodies of an operation's successful answers, by media type. */
type ContentOf<Shape extends OperationShape> = Content<Shape['answers'][keyof Shape['answers']]>;
type Content<Answer> = Answer extends { content: infer Media } ? Media : never;

/** The media types of those bodies. */
export type MediaOf<Shape extends OperationShape> = KeysOfEach<ContentOf<Shape>>;
type KeysOfEach<Union> = Union extends unknown ? keyof Union : never;

/** An operation's JSON answer; `never` where it answers something else. */
export type JsonOf<Shape extends OperationShape> = Json<ContentOf<Shape>>;
type Json<Media> = Media extends { 'application/json': infer Schema extends z.ZodType } ? z.output<Schema> : never;

/** A JSON body. */
export function json<Schema extends z.ZodType>(schema: Schema): { 'application/json': Schema } {
  return { 'application/json': schema };
}

/** Whether an operation needs no token. */
export function isOpen({ path, open = !path.startsWith('/api/') }: Operation): boolean {
  return open;
}

/** The least scope of a token for an operation. */
export function scopeOf({ method, scope = defaultScope(method) }: Operation): ApiScope {
  return scope;
}

/** The scope of operations that name none. */
export function defaultScope(method: string): ApiScope {
  return /^(get|head)$/i.test(method) ? 'read' : 'write';
}

/** Whether an operation accepts an `Idempotency-Key`. */
export function takesKey({ method, repeatable = method === 'post' }: Operation): boolean {
  return repeatable;
}

/** Every code of an operation's refusals that are due to the request or its subject. */
export function refusalsOf(operation: Operation): ErrorCode[] {
  const { method, path, upload, writes = method !== 'get', refusals = [] } = operation;
  const codes: ErrorCode[] = ['foreign-host'];
  if (!isOpen(operation)) codes.push('unauthenticated', 'forbidden');
  if (path.startsWith('/api/')) codes.push('rate-limited', 'invalid-request');
  if (path.includes('/:project')) codes.push('project-unknown');
  if (method !== 'get') codes.push('foreign-origin', upload ? 'content-too-large' : 'body-too-large');
  if (writes) codes.push('store-busy');
  return [...codes, ...refusals];
}
