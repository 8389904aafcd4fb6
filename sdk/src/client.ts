import { allItems as all } from '@suzumio/contract/client/all-items';
import { maxAttachments, maxContentBytes, maxMessageBytes } from '@suzumio/protocol/content';
import { HttpRefusal, HttpUnavailable } from '@suzumio/protocol/http-failures';
import { failureOf } from '@suzumio/contract/client/failures';
import { followCell as followAll } from '@suzumio/contract/client/follow-cell';
import { followEvents as follow } from '@suzumio/contract/client/follow-events';
import { followTurn as followOne } from '@suzumio/contract/client/follow-turn';
import { makeClient } from '@suzumio/contract/client/make-client';
import { untilReply as untilReplied } from '@suzumio/contract/client/until-reply';
import { untilStatus as until } from '@suzumio/contract/client/until-status';
import { includesScope } from '@suzumio/contract/model/api-scopes';
import { SuzumioError as ServerError } from '@suzumio/contract/errors/suzumio-error';
import type {
  ApiAddress,
  CellEvent,
  Client,
  Event,
  Follow,
  FollowCell,
  FollowTurn,
  LiveEnd,
  LiveFrame,
  ReplyAnswer,
  UntilReply,
  UntilStatus,
  WaitAnswer,
} from './api.js';
import { calls } from './calls.js';
import { SuzumioError } from './errors.js';

export type * from './api.js';
export { SuzumioError } from './errors.js';

/**
 * Every operation of the HTTP API as a method: `api.sendMessage({ project, body: { recipient: 'editor', body: 'Hello.' } })`.
 * What is refused throws a {@link SuzumioError} with the server's code, and no answer one with `server-unreachable`.
 */
export function createClient(address: ApiAddress): Client {
  const failure = (error: unknown, url: string) => told(failureOf(error, url), error);
  return makeClient(address, { calls, failure }) as unknown as Client;
}

/** Whether a token of that scope may ask for an operation: `allows('mail', 'sendMessage')`. */
export function allows(scope: string, operation: keyof Client): boolean {
  const call = calls[operation];
  return call !== undefined && includesScope(scope, call.scope);
}

/** What the server takes at the most of mail: bytes of a text in UTF-8, attachments of a message, bytes of a file. */
export const mailLimits: Readonly<Record<'textBytes' | 'attachments' | 'fileBytes', number>> = {
  textBytes: maxMessageBytes,
  attachments: maxAttachments,
  fileBytes: maxContentBytes,
};

/**
 * A project's events, each once and in order; a connection that is lost is resumed where it stopped. Ends when `signal`
 * is aborted.
 *
 * @throws SuzumioError when the server refuses; `project-unknown` once the project was deleted
 */
export async function* followEvents(
  api: Pick<Client, 'streamEvents'>,
  options: Follow,
): AsyncGenerator<Event, void, undefined> {
  try {
    yield* follow(api, options);
  } catch (error) {
    throw told(error);
  }
}

/**
 * The events of all projects, each once and in one order; a connection that is lost is resumed where it stopped. Ends
 * when `signal` is aborted.
 *
 * @throws SuzumioError when the server refuses
 */
export async function* followCell(
  api: Pick<Client, 'streamCellEvents'>,
  options: FollowCell = {},
): AsyncGenerator<CellEvent, void, undefined> {
  try {
    yield* followAll(api, options);
  } catch (error) {
    throw told(error);
  }
}

/**
 * What a running turn does while it does it, from now on, over one connection: what its model says, and what its commands
 * print. Nothing of it is on record; the step that follows has all.
 *
 * @returns how its attempt ended; undefined where the server ended the stream before
 * @throws SuzumioError when the server refuses, as with `live-unavailable`, or the connection is lost
 */
export async function* followTurn(
  api: Pick<Client, 'followTurn'>,
  options: FollowTurn,
): AsyncGenerator<LiveFrame, LiveEnd | undefined, undefined> {
  try {
    return yield* followOne(api, options);
  } catch (error) {
    throw told(error);
  }
}

/**
 * Waits until a project has, or reaches, one of some statuses. A server that stops meanwhile is asked again for a minute.
 *
 * @returns the project, and the status that was reached; null when the time was up
 */
export function untilStatus(api: Pick<Client, 'waitForStatus'>, options: UntilStatus): Promise<WaitAnswer> {
  return until(api, options);
}

/**
 * Waits until a message has a reply to its sender, or none is expected. A server that stops meanwhile is asked again
 * for a minute.
 *
 * @returns the reply; why none is expected; or that one may still come when the time was up
 */
export function untilReply(api: Pick<Client, 'waitForReply'>, options: UntilReply): Promise<ReplyAnswer> {
  return untilReplied(api, options);
}

/**
 * The items of a list to its end: `allItems((after: number | undefined) => api.listMessages({ project, query: { after } }), 0)`.
 *
 * @param part asks for the part after a place
 * @param from the place to begin after
 */
export function allItems<Item, Place>(
  part: (after: Place | undefined) => Promise<{ items: Item[]; next?: Place }>,
  from?: Place,
): Promise<Item[]> {
  return all(part, from);
}

/** The error that this package throws for one of the server's; a newer server's code is kept. */
function told(error: unknown, cause?: unknown): unknown {
  if (!(error instanceof ServerError)) return error;
  const answer = cause instanceof HttpRefusal || cause instanceof HttpUnavailable ? cause.answer : undefined;
  const { code, status } = answer?.problem ? { code: answer.problem.code, status: answer.status } : error;
  return new SuzumioError(code, error.message, status);
}
