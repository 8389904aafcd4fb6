import type { EventType } from '@suzumio/contract/model/event';
import { followCell } from '../cell-timeline.js';
import { followTimeline, printHistory } from '../live-timeline.js';
import { openDirectory } from '../reach/open-directory.js';
import { findApi, requireApi } from '../reach/reach.js';
import { say, sayNext, type Session } from '../session.js';
import type { Register } from './action.js';
import { UsageError } from '../usage-error.js';
import { collected, gatherEventTypes, wholeNumber } from './arguments.js';
import { examples } from './help.js';

export const registerWatch: Register = (program, action) => {
  examples(
    program
      .command('watch [project]')
      .description('follow what happens, until the report is approved or you press Ctrl-C')
      .option('--limit <n>', 'how many earlier events to show first', wholeNumber(0, 1000), 50)
      .option('--live', 'what turns say and print, too, while they run')
      .option('--all', 'all projects, until you press Ctrl-C')
      .option('--label <key=value>', 'of all: only projects filed under this; may be given again', collected)
      .option('--type <type>', 'only events of this type; may be given again', gatherEventTypes)
      .option('--agent <agent>', 'only events about this agent; may be given again', collected)
      .option('--quiet', 'no line for each call of a tool that succeeded'),
    ['watch newsroom'],
    ['watch newsroom --limit 0', 'only what happens from now on'],
    ['watch newsroom --type turn.failed --agent checker'],
    ['watch newsroom --live', 'and what its agents say and print meanwhile'],
    ['watch newsroom --json', 'an event a line, for a program'],
    ['watch --all --label team=news --type turn.failed', 'what fails, in whichever project'],
  ).action(action(watch));
};

interface WatchOptions {
  readonly limit: number;
  readonly live?: true;
  readonly all?: true;
  readonly label?: string[];
  readonly type?: EventType[];
  readonly agent?: string[];
  readonly quiet?: true;
}

async function watch(session: Session, project: string | undefined, options: WatchOptions): Promise<undefined> {
  const { limit, live, all, label, type: types, agent: agents, quiet } = options;
  if ((project === undefined) === (all === undefined)) {
    throw new UsageError('Name one project, or follow all of them with --all.', 'watch');
  }
  if (project === undefined) {
    if (live) throw new UsageError('--live goes with one project.', 'watch');
    const signal = session.context.interrupted;
    await followCell(session, await requireApi(session), {
      history: limit,
      filter: { label, types, agents },
      quiet,
      signal,
    });
    return;
  }
  if (label) throw new UsageError('--label goes with --all.', 'watch');
  const shown = { types, agents, quiet };
  const api = await findApi(session);
  if (api) {
    const { status } = (await api.getProject({ project })).project;
    if (status === 'completed') await printHistory(session, api, { project, limit, shown });
    else {
      await followTimeline(session, api, {
        project,
        history: limit,
        live: live === true,
        shown,
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
  await printHistory(session, await openDirectory(session), { project, limit, shown });
  say(session, '', `No server is running for ${session.root}: nothing will happen until one does.`);
  sayNext(session, 'serve');
}
