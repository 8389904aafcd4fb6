import { followTimeline, printHistory } from '../live-timeline.js';
import { openDirectory } from '../reach/open-directory.js';
import { findApi } from '../reach/reach.js';
import { say, sayNext, type Session } from '../session.js';
import type { Register } from './action.js';
import { wholeNumber } from './arguments.js';
import { examples } from './help.js';

export const registerWatch: Register = (program, action) => {
  examples(
    program
      .command('watch <project>')
      .description('follow what happens, until the report is approved or you press Ctrl-C')
      .option('--limit <n>', 'how many earlier events to show first', wholeNumber(0, 1000), 50),
    ['watch newsroom'],
    ['watch newsroom --limit 0', 'only what happens from now on'],
    ['watch newsroom --json', 'an event a line, for a program'],
  ).action(action(watch));
};

async function watch(session: Session, project: string, { limit }: { limit: number }): Promise<undefined> {
  const api = await findApi(session);
  if (api) {
    const { status } = (await api.getProject({ project })).project;
    if (status === 'completed') await printHistory(session, api, project, limit);
    else {
      await followTimeline(session, api, {
        project,
        history: limit,
        onEvent: ({ type }) => type === 'project.completed',
        signal: session.context.interrupted,
      });
      if (session.context.interrupted.aborted && session.context.out.isTerminal) {
        say(session, '', `${project} goes on without being watched.`);
        sayNext(session, `status ${project}`);
      }
    }
    return;
  }
  await printHistory(session, await openDirectory(session), project, limit);
  say(session, '', `No server is running for ${session.root}: nothing will happen until one does.`);
  sayNext(session, 'serve');
}
