import { settledWithin } from '@suzumio/runtime/queue/within';
import type { ApiContext } from '../context.js';

type State = 'ok' | 'away';

/** How long an answer counts. Anybody may ask without a token, so that the queue is asked once in that time. */
const keptMs = 1_000;
const answerWithinMs = 1_000;

/** Whether the queue answers, as of the last second. */
export class QueueHealth {
  private last: { state: Promise<State>; askedAt: number } | undefined;

  /** @param now a steady clock, in milliseconds */
  constructor(private readonly now: () => number = () => performance.now()) {}

  ask(transport: Pick<ApiContext['transport'], 'healthy'>): Promise<State> {
    const now = this.now();
    if (!this.last || now - this.last.askedAt > keptMs) this.last = { state: stateOf(transport), askedAt: now };
    return this.last.state;
  }
}

async function stateOf(transport: Pick<ApiContext['transport'], 'healthy'>): Promise<State> {
  const healthy = transport.healthy();
  return (await settledWithin(healthy, answerWithinMs)) && (await healthy) ? 'ok' : 'away';
}
