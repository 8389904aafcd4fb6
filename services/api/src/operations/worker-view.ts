import type { WorkerView } from '@suzumio/contract/operations/service';
import type { WorkerPresence } from '@suzumio/protocol/worker-presence';

/** What a worker last told of itself; null is what it has not told. */
export const workerViewOf = ({
  worker,
  slots,
  busy,
  version,
  state,
  problem,
  backends,
  images,
}: WorkerPresence): WorkerView => ({
  worker,
  state: state ?? null,
  problem: problem ?? null,
  slots,
  busy: busy ?? null,
  version: version ?? null,
  backends: backends ?? null,
  images: images ?? null,
});
