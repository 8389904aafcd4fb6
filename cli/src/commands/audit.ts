import { findReads } from '../reach/reach.js';
import { actTable } from '../render/act-table.js';
import { sayHint, type Session } from '../session.js';
import type { Register } from './action.js';
import { examples } from './help.js';
import { type LimitOptions, sayRows, withLimit } from './list.js';

/** Who did what. */
export const registerAudit: Register = (program, action) => {
  examples(
    withLimit(
      program
        .command('audit [project]')
        .description('list what people did: who started, stopped, approved, paused, deleted, made tokens')
        .option('--actor <name>', 'only what one did: a token by its name, or user'),
    ),
    ['audit', 'in all projects, and to the cell'],
    ['audit newsroom --actor ci'],
  ).action(action(audit));
};

async function audit(
  session: Session,
  project: string | undefined,
  { actor, limit }: LimitOptions & { actor?: string },
): Promise<undefined> {
  const api = await findReads(session);
  const acts = [];
  for (let before: string | undefined; ;) {
    const part = await api.listActs({ query: { project, actor, limit: Math.min(500, limit - acts.length), before } });
    acts.push(...part.items);
    before = part.previous;
    if (before === undefined || acts.length >= limit || session.context.interrupted.aborted) break;
  }
  sayRows(session, acts.reverse(), 'Nobody did anything yet.', actTable);
  sayHint(session, 'tokens audit');
}
