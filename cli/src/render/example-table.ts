import type { Example } from '@suzumio/contract/operations/project-files';
import type { Session } from '../session.js';
import { table } from './table.js';

/** The examples that are installed, with what keeps one from running here. */
export function exampleTable(items: readonly Example[], { context }: Session): string[] {
  return table(
    ['EXAMPLE', 'AGENTS', 'HERE', 'ABOUT', 'WHY NOT'],
    items.map(({ id, agents, obstacles: [obstacle], description }) => [
      id,
      String(agents),
      obstacle === undefined ? ['runs', 'good'] : 'does not',
      description,
      obstacle ?? '',
    ]),
    context.out,
  );
}
