import { allItems } from '@suzumio/contract/client/all-items';
import { requireApi } from '../reach/reach.js';
import { count } from '../render/format.js';
import { workerTable } from '../render/worker-table.js';
import { say, sayHint, type Session } from '../session.js';
import type { Register } from './action.js';
import { examples } from './help.js';
import { sayRows } from './list.js';

/** Lists the workers. */
export const registerWorkers: Register = (program, action) => {
  examples(
    program
      .command('workers')
      .description('list the workers that are connected or were lost, and what keeps them from turns'),
    ['workers'],
    ['workers --json | jq -r \'.[] | select(.state == "not-ready") | .worker\'', 'for a program'],
  ).action(action(workers));
};

async function workers(session: Session): Promise<undefined> {
  const api = await requireApi(session);
  let elsewhere = 0;
  const items = await allItems(async (after: string | undefined) => {
    const part = await api.listWorkers({ query: { after } });
    elsewhere = part.elsewhere;
    return part;
  });
  sayRows(session, items, 'No worker is connected: turns wait for one.', workerTable);
  if (elsewhere > 0) say(session, `${count(elsewhere, 'worker')} serve${elsewhere === 1 ? 's' : ''} other cells only.`);
  const ready = items.length > 0 && items.every(({ state }) => state !== 'not-ready' && state !== 'lost');
  sayHint(session, ready ? 'status' : 'doctor');
}
