import { allItems } from '@suzumio/contract/client/all-items';
import { messageOf } from '@suzumio/contract/errors/suzumio-error';
import type { WorkerView } from '@suzumio/contract/operations/service';
import { findApi } from '../reach/reach.js';
import type { Session } from '../session.js';
import { broken, type Finding, ok, skipped } from './check.js';

/** The workers of the server that runs, and why some take no turns. */
export async function checkWorkers(session: Session): Promise<Finding[]> {
  try {
    const api = await findApi(session);
    if (!api) return [skipped('workers', 'not asked for: no server runs')];
    const workers = await allItems((after: string | undefined) => api.listWorkers({ query: { after } }));
    return judgeWorkers(workers, session.suzumio);
  } catch (error) {
    return [skipped('workers', messageOf(error))];
  }
}

/** @param suzumio how the command is called */
export function judgeWorkers(workers: readonly WorkerView[], suzumio: string): Finding[] {
  const idle = workers.filter(({ state }) => state === 'not-ready').map((worker) => fault(worker, suzumio));
  const ready = workers.length - idle.length;
  if (ready > 0) return [ok('workers', `${ready} connected`), ...idle];
  return idle.length > 0 ? idle : [skipped('workers', 'none is connected: turns wait for one')];
}

/** Refusals of a worker's credential. */
const ofCredential = ['token-rejected', 'unauthenticated'];

function fault({ worker, problem }: WorkerView, suzumio: string): Finding {
  if (problem !== null && ofCredential.includes(problem)) {
    return broken(
      'workers',
      `${worker} is refused (${problem}): its credential is none of this server's, as when it was revoked or has expired`,
      `make another, ${suzumio} tokens create NAME --scope worker, and give it to the worker: SUZUMIO_WORKER_TOKEN_FILE`,
    );
  }
  const why = problem === null ? '' : ` (${problem})`;
  return broken('workers', `${worker} takes no turns${why}`, 'its log says what is wrong on its host');
}
