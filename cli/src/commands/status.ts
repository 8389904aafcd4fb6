import { findReads } from '../reach/reach.js';
import { renderProjects, renderStatus } from '../render/status.js';
import { sayJson, say, sayNext, type Session } from '../session.js';
import type { Register } from './action.js';

export const registerStatus: Register = (program, action) => {
  program.command('status [project]').description('say how a project stands, or all of them').action(action(status));
};

async function status(session: Session, project: string | undefined): Promise<undefined> {
  const reads = await findReads(session);
  if (project !== undefined) {
    const detail = await reads.detail(project);
    sayJson(session, detail);
    const { lines, next } = renderStatus(detail.project, detail.agents, session.context.out);
    say(session, ...lines);
    sayNext(session, ...next);
    return;
  }
  const details = await Promise.all((await reads.projects()).map((id) => reads.detail(id)));
  sayJson(session, details);
  if (details.length === 0) {
    say(session, `No projects in ${session.root} yet.`);
    sayNext(session, 'init FILE');
  } else say(session, ...renderProjects(details));
}
