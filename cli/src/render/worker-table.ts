import type { WorkerView } from '@suzumio/contract/operations/service';
import type { Session } from '../session.js';
import { type Cell, table } from './table.js';

/** Workers; what one has not told of itself is a dash. */
export function workerTable(workers: readonly WorkerView[], { context }: Session): string[] {
  return table(
    ['WORKER', 'STATE', 'HOST', 'BUSY', 'SLOTS', 'VERSION', 'BACKENDS', 'IMAGES', 'PROBLEM'],
    workers.map((worker) => [
      worker.worker,
      stateOf(worker),
      worker.host ?? '-',
      worker.busy === null ? '-' : String(worker.busy),
      String(worker.slots),
      [worker.version ?? '-', worker.commit].filter(Boolean).join(' '),
      worker.backends?.join(', ') ?? '-',
      worker.images === null ? '-' : String(worker.images.length),
      worker.lostSince === null ? (worker.problem ?? '-') : `silent since ${worker.lostSince}`,
    ]),
    context.out,
  );
}

function stateOf({ state }: WorkerView): Cell {
  if (state === null) return '-';
  const tones = { ready: 'good', 'not-ready': 'bad', draining: 'warning', lost: 'bad' } as const;
  return [state, tones[state]];
}
