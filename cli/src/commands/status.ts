import { findApi } from '../reach/reach.js';
import { createStoreReads } from '../reach/store-reads.js';
import { openWarning } from '../render/open-warning.js';
import { renderProjects, renderStatus } from '../render/status.js';
import { sayHint, sayJson, say, sayNext, type Session } from '../session.js';
import type { Register } from './action.js';
import { examples } from './help.js';

export const registerStatus: Register = (program, action) => {
  examples(
    program.command('status [project]').description('say how a project stands, or all of them'),
    ['status', 'a line for each project'],
    ['status newsroom', 'what each agent is at, why nothing moves, what may come next'],
  ).action(action(status));
};

async function status(session: Session, project: string | undefined): Promise<undefined> {
  const { context } = session;
  const api = await findApi(session);
  if ((await api?.health())?.access === 'open') context.err.write(`${openWarning}\n`);
  const reads = api ?? createStoreReads(session);
  if (project !== undefined) {
    const detail = await reads.detail(project);
    sayJson(session, detail);
    const { lines, next } = renderStatus(detail, context);
    say(session, ...lines);
    sayNext(session, ...next);
    return;
  }
  const details = await Promise.all((await reads.projects()).map((id) => reads.detail(id)));
  sayJson(session, details);
  if (details.length === 0) {
    say(session, `No projects in ${session.root} yet.`);
    sayHint(session, 'init FILE');
    return;
  }
  say(session, ...renderProjects(details, context));
  const last = details.at(-1)?.project.id ?? 'PROJECT';
  sayHint(session, `status ${last}`);
}
