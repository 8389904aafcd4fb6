import { followTurn } from '@suzumio/contract/client/follow-turn';
import { isSuzumioError, SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { TurnDetail } from '@suzumio/contract/model/turn';
import type { LiveFrame } from '@suzumio/protocol/live';
import { delay } from '@suzumio/protocol/retry';
import type { ApiClient } from './reach/api-client.js';

/** The turn that is followed. */
export type LiveTurn = Pick<TurnDetail, 'id' | 'agent' | 'number'>;

const againAfterMs = 1_000;

/**
 * Follows what a turn does, attempt by attempt, until it has ended or `signal` is aborted. A connection that is lost is made
 * again.
 *
 * @returns why it cannot be followed, if it cannot
 */
export async function followLive(
  api: ApiClient,
  { project, turn, signal }: { readonly project: string; readonly turn: LiveTurn; readonly signal: AbortSignal },
  onFrame: (frame: LiveFrame) => void,
): Promise<SuzumioError | undefined> {
  const isOver = () => signal.aborted;
  while (!isOver()) {
    try {
      const frames = followTurn(api, { project, turn: turn.id, signal });
      let next = await frames.next();
      for (; next.done !== true; next = await frames.next()) onFrame(next.value);
      const status = next.value?.status;
      if (status !== undefined && status !== 'queued' && status !== 'running') return undefined;
      if (status !== undefined) continue;
    } catch (error) {
      if (isOver()) return undefined;
      if (!(error instanceof SuzumioError)) throw error;
      if (!isSuzumioError(error, 'server-unreachable')) return error;
    }
    onFrame({ kind: 'gap', bytes: 0 });
    await delay(againAfterMs, signal);
  }
  return undefined;
}

/** A gap in words. */
export function gapText(bytes: number): string {
  return bytes === 0 ? '[something is left out here]' : `[${bytes} bytes are left out here]`;
}
