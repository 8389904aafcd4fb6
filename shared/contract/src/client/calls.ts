import type { ApiScope } from '../model/api-scopes.js';
import { type Operation, scopeOf } from '../operations/operation.js';
import { longestWaitMs } from '../operations/wait-timeout.js';

/** What a client has to know of an operation to ask for it: plain data, so that it can be carried where zod is not. */
export interface Call {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** With its names, as `:project`. */
  readonly path: string;
  /** The least scope of a token for it. */
  readonly scope: ApiScope;
  readonly sends?: 'json' | 'bytes';
  readonly answers: 'json' | 'text' | 'stream';
  /** Transfers take as long as they take, and have none. */
  readonly timeoutMs?: number;
}

const answerWithinMs = 30_000;

export function callOf(operation: Operation): Call {
  const { method, path, body, upload } = operation;
  const answers = answersOf(operation);
  const isTransfer = upload !== undefined || answers === 'stream';
  const waitMs = operation.query && 'timeout' in operation.query.shape ? longestWaitMs : 0;
  return {
    method: method.toUpperCase() as Uppercase<Operation['method']>,
    path,
    scope: scopeOf(operation),
    ...(upload ? { sends: 'bytes' } : body ? { sends: 'json' } : {}),
    answers,
    ...(isTransfer ? {} : { timeoutMs: waitMs + answerWithinMs }),
  };
}

/** A value or a text is whole; anything else comes as it comes. */
function answersOf(operation: Operation): Call['answers'] {
  const media = Object.keys(Object.values(operation.answers)[0]?.content ?? {});
  if (media.includes('application/json')) return 'json';
  const isText = media.length > 0 && media.every((type) => /^text\/(?!event-stream)/.test(type));
  return isText ? 'text' : 'stream';
}
