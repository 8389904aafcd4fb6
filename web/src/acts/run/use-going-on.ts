import type { Agent } from '@suzumio/sdk/client';
import { useHelp } from '../../use-why.js';
import { useMay } from '../use-act.js';
import { asked } from './use-run.js';
import { words } from './words.js';

/**
 * How an agent goes on that has failed, where who is signed in may have it do so: its turn is retried, or, where that
 * would fail the same way at once, a new one reads its mail.
 */
export function useGoingOn(project: string, { id, state, failure }: Agent) {
  const may = useMay();
  const isFailed = state === 'failed' && failure !== null;
  const help = useHelp(project, id, isFailed ? `${failure.turn} ${failure.attempt}` : undefined);
  if (!isFailed || help.isPending) return undefined;
  if (help.data?.request?.operation === 'resetAgent') {
    const request = asked('resetAgent', { project, agent: id, body: { redeliver: true } });
    return may('resetAgent') ? { request, ...words.resetAgent } : undefined;
  }
  const request = asked('retryAgent', { project, agent: id });
  const did = `Turn ${failure.turnNumber} is queued again.`;
  return may('retryAgent') ? { request, ...words.retryAgent, did } : undefined;
}
