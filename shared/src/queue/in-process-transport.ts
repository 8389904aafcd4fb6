import type { Logger } from '../observability/logger.js';
import { createInProcessQueue } from './in-process-queue.js';
import { presenceMs, queuePriority, queues, type TurnJob, turnJobId } from './jobs.js';
import { createListeners } from './listeners.js';
import type { WorkerPresence } from './presence.js';
import type { EventHint, Transport } from './transport.js';

export interface InProcessTransportOptions {
  logger: Logger;
  /** A clock that only goes forward. @default performance.now */
  nowMs?: () => number;
}

/** Carries hints and jobs between services that share a process. It forgets everything with the process. */
export function createInProcessTransport(options: InProcessTransportOptions): Transport {
  const { logger, nowMs = () => performance.now() } = options;
  const wakes = createInProcessQueue<string>(
    { idOf: (project) => project, rankOf: () => 0, whileRunning: 'wait' },
    logger,
  );
  const turns = createInProcessQueue<TurnJob>(
    { idOf: turnJobId, rankOf: (job) => queuePriority(job.priority), whileRunning: 'drop' },
    logger,
  );
  const hints = createListeners<EventHint>(logger);
  const recovered = createListeners<undefined>(logger);
  const fleet = new Map<string, { presence: WorkerPresence; untilMs: number }>();
  let closed = false;

  /** Workers that live; the others are forgotten. */
  function living(): WorkerPresence[] {
    for (const [worker, { untilMs }] of fleet) if (untilMs <= nowMs()) fleet.delete(worker);
    return [...fleet.values()].map(({ presence }) => presence);
  }

  return {
    wake: (project) => {
      if (!closed) wakes.add(project);
    },
    consumeWakes: (handler) => wakes.consume(queues.wakes.concurrency, handler),

    hint: (hint) => void setImmediate(() => hints.notify(hint)),
    onHint: (listener) => hints.add(listener),

    addTurnJob: (job) => {
      turns.add(job);
      return Promise.resolve();
    },
    removeTurnJob: (job) => {
      turns.remove(turnJobId(job));
      return Promise.resolve();
    },
    liveTurnJobs: (jobs) => Promise.resolve(new Set(jobs.map(turnJobId).filter((id) => turns.has(id)))),
    waitingTurnJobs: () => Promise.resolve(turns.waiting),
    consumeTurns: ({ concurrency }, handler) => turns.consume(concurrency, handler),

    turnJobsAhead: (job) => Promise.resolve(turns.ahead(turnJobId(job))),
    announce: (presence) => {
      fleet.set(presence.worker, { presence, untilMs: nowMs() + presenceMs });
      return Promise.resolve();
    },
    depart: (worker) => {
      fleet.delete(worker);
      return Promise.resolve();
    },
    fleetSlots: () => Promise.resolve(living().reduce((total, { slots }) => total + slots, 0)),
    fleet: () => Promise.resolve(living()),

    healthy: () => Promise.resolve(!closed),
    onRecovered: (listener) => recovered.add(listener),
    close: async () => {
      closed = true;
      await Promise.all([wakes.close(), turns.close()]);
    },
  };
}
