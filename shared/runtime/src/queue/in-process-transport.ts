import type { Logger } from '../observability/logger.js';
import { createInProcessQueue } from './in-process-queue.js';
import { presenceMs, queues } from './jobs.js';
import { type RepositoryDiffJob, repositoryDiffJobId } from '@suzumio/protocol/repository-diff';
import { type TurnJob, turnJobId } from '@suzumio/protocol/turn-job';
import { createListeners } from './listeners.js';
import { slotsWhereUnknown } from './places.js';
import type { WorkerPresence } from '@suzumio/protocol/worker-presence';
import type { EventHint, Transport } from './transport.js';

export interface InProcessTransportOptions {
  logger: Logger;
  /** A monotonic clock. @default performance.now */
  nowMs?: () => number;
}

/** Carries hints and jobs between services of one process, in memory. */
export function createInProcessTransport(options: InProcessTransportOptions): Transport {
  const { logger, nowMs = () => performance.now() } = options;
  const wakes = createInProcessQueue<string>({ idOf: (project) => project, whileRunning: 'wait' }, logger);
  const turns = createInProcessQueue<TurnJob>({ idOf: turnJobId, whileRunning: 'drop' }, logger);
  const diffs = createInProcessQueue<RepositoryDiffJob>({ idOf: repositoryDiffJobId, whileRunning: 'drop' }, logger);
  const hints = createListeners<EventHint>(logger);
  const recovered = createListeners<undefined>(logger);
  const fleet = new Map<string, { presence: WorkerPresence; untilMs: number }>();
  /** When each place was taken. */
  const places = new Map<string, number>();
  let lastSlots = slotsWhereUnknown;
  let closed = false;

  /** Live workers; the others are deleted. */
  function living(): WorkerPresence[] {
    for (const [worker, { untilMs }] of fleet) if (untilMs <= nowMs()) fleet.delete(worker);
    return [...fleet.values()].map(({ presence }) => presence);
  }

  return {
    kind: 'memory',
    wake: (project) => {
      if (!closed) wakes.add(project);
    },
    consumeWakes: (handler) => wakes.consume(queues.wakes.concurrency, handler),

    hint: (hint) => void setImmediate(() => hints.notify(hint)),
    onHint: (listener) => hints.add(listener),

    takePlaces: (wanted) => {
      lastSlots = living().reduce((total, { slots }) => total + slots, 0) || lastSlots;
      for (const place of wanted) if (!places.has(place) && places.size < lastSlots) places.set(place, nowMs());
      const held = new Set(wanted.filter((place) => places.has(place)));
      return Promise.resolve({ held, free: Math.max(0, lastSlots - places.size) });
    },
    givePlacesBack: (held) => held.forEach((place) => places.delete(place)),
    heldPlaces: (olderThanMs) =>
      Promise.resolve([...places].filter(([, takenMs]) => takenMs <= nowMs() - olderThanMs).map(([place]) => place)),

    addTurnJob: (job) => {
      turns.add(job);
      return Promise.resolve();
    },
    liveTurnJobs: (jobs) => Promise.resolve(new Set(jobs.map(turnJobId).filter((id) => turns.has(id)))),
    turnJobs: () => Promise.resolve({ waiting: turns.waiting, active: turns.active, delayed: 0 }),
    consumeTurns: ({ concurrency }, handler) => turns.consume(concurrency, handler),

    turnJobsAhead: (job) => Promise.resolve(turns.ahead(turnJobId(job))),

    addRepositoryDiff: (job) => {
      diffs.add(job);
      return Promise.resolve();
    },
    consumeRepositoryDiffs: (handler) => diffs.consume(queues.repositoryDiffs.concurrency, handler),

    announce: (presence) => {
      fleet.set(presence.worker, { presence, untilMs: nowMs() + presenceMs });
      return Promise.resolve();
    },
    depart: (worker) => {
      fleet.delete(worker);
      return Promise.resolve();
    },
    fleet: () => Promise.resolve(living()),
    // Its workers are this process.
    lostWorkers: () => Promise.resolve([]),

    healthy: () => Promise.resolve(!closed),
    onRecovered: (listener) => recovered.add(listener),
    close: async () => {
      closed = true;
      await Promise.all([wakes.close(), turns.close(), diffs.close()]);
    },
  };
}
