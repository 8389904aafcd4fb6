import type { AttemptStats, CompleteRequest } from '@suzumio/protocol/attempts';
import { messageOf } from '@suzumio/contract/errors/suzumio-error';
import { HttpRefusal } from '@suzumio/protocol/http-failures';
import { retry } from '@suzumio/protocol/retry';
import type { Logger } from '@suzumio/runtime/observability/logger';
import { AttemptFailure } from '../engine/attempt-failure.js';
import { errnoOf } from '../files/errno.js';
import { type AttemptClient, whileUnavailable } from '../toolhost/toolhost-client.js';
import { type FetchContent, upload } from '../workspace/content-exchange.js';
import type { Content } from '../workspace/read-file.js';
import type { Workspace } from '../workspace/workspaces.js';
import type { StopSwitch } from './stop-switch.js';

/** The stored workspace, and what it lacks: without a snapshot, why it could not be stored. */
export type Kept = { snapshot: string | null; lacks: Lacking } | { unsaved: NonNullable<CompleteRequest['unsaved']> };

/** What a workspace has and its snapshot has not. */
export type Lacking = Pick<AttemptStats, 'leftOut' | 'ignoredFiles'>;

/** Whether the ToolHost has refused something for lack of room. */
export const isOfRoom = (code: string): boolean => ['quota-exceeded', 'disk-reserve', 'disk-full'].includes(code);

/** How content requests are retried while the ToolHost does not answer. */
export const contentRetry = (stop: StopSwitch) => ({
  ...whileUnavailable,
  patienceMs: 30_000,
  signal: stop.abandoned,
});

/**
 * Restores a workspace to the snapshot that its agent's turn begins with.
 *
 * @throws AttemptFailure `workspace-unavailable`, and others as they are
 */
export async function bringToSnapshot(
  workspace: Workspace,
  snapshot: string | null,
  { client, stop }: { client: AttemptClient; stop: StopSwitch },
): Promise<void> {
  const work = (fetch: FetchContent) => workspace.bringTo(snapshot, fetch, stop.stopped);
  await bringing(work, 'The workspace could not be brought to its snapshot.', { client, stop });
}

/**
 * Does what brings files into a directory, until all have come.
 *
 * @param failed says what could not be done
 * @throws AttemptFailure `workspace-unavailable`, and others as they are
 */
export async function bringing<Result>(
  work: (fetch: FetchContent) => Promise<Result>,
  failed: string,
  { client, stop }: { client: AttemptClient; stop: StopSwitch },
): Promise<Result> {
  const fetch = async (sha256: string) => {
    stop.stopped.throwIfAborted();
    return client.getContent(sha256);
  };
  try {
    return await retry(() => work(fetch), contentRetry(stop));
  } catch (error) {
    // A full disk is this host's fault, not the workspace's.
    if (error instanceof AttemptFailure || errnoOf(error) === 'ENOSPC') throw error;
    // What only the operator of this host can mend is named.
    const why = errnoOf(error) === undefined ? failed : `${failed.replace(/\.$/, '')}: ${messageOf(error)}.`;
    throw new AttemptFailure('workspace-unavailable', why, { cause: error });
  }
}

/**
 * Takes a snapshot of a workspace in which nothing writes any more, and stores its new content.
 *
 * @param captureMs the longest time that this may take
 */
export async function captureSnapshot(
  workspace: Workspace,
  captureMs: number,
  { client, stop, logger }: { client: AttemptClient; stop: StopSwitch; logger: Logger },
): Promise<Kept> {
  const store = (content: Content) => retry(() => upload(content, client), contentRetry(stop));
  const signal = AbortSignal.any([stop.abandoned, AbortSignal.timeout(captureMs)]);
  try {
    const { id, ...lacks } = await workspace.capture({ store, signal });
    return { snapshot: id, lacks };
  } catch (error) {
    // The turn counts even if its files cannot be stored.
    if (!(error instanceof HttpRefusal) || !isOfRoom(error.code)) throw error;
    logger.warn({ code: error.code }, 'the workspace of a finished turn could not be stored');
    return { unsaved: { code: error.code, message: error.message.slice(0, 2000) } };
  }
}
