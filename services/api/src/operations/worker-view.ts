import type { WorkerView } from '@suzumio/contract/operations/service';
import { asSeenBy, type LostWorker, type WorkerPresence } from '@suzumio/protocol/worker-presence';
import { iso } from '@suzumio/store/sqlite/page';

/** What a worker last told of itself; null is what it has not told. */
export const workerViewOf = (presence: WorkerPresence): WorkerView => ({
  worker: presence.worker,
  state: presence.state ?? null,
  problem: presence.problem ?? null,
  slots: presence.slots,
  busy: presence.busy ?? null,
  version: presence.version ?? null,
  commit: presence.commit ?? null,
  host: presence.host ?? null,
  lostSince: null,
  backends: presence.backends ?? null,
  images: presence.images ?? null,
});

/** The lost workers of a cell. */
export function lostWorkerViews(cell: string, lost: readonly LostWorker[], nowMs: number): WorkerView[] {
  return lost.flatMap(({ presence, silentMs }): WorkerView[] => {
    if (!asSeenBy(cell, presence)) return [];
    return [{ ...workerViewOf(presence), state: 'lost', slots: 0, busy: null, lostSince: iso(nowMs - silentMs) }];
  });
}
