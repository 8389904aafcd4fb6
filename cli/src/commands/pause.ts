import { requireApi } from '../reach/reach.js';
import { count } from '../render/format.js';
import type { Session } from '../session.js';
import { UsageError } from '../usage-error.js';
import type { Register } from './action.js';
import { examples } from './help.js';
import { tell } from './tell.js';

/** Holding up and going on, without losing or cancelling anything. */
export const registerPause: Register = (program, action) => {
  examples(
    program
      .command('pause [project] [agent]')
      .description('start no more turns of an agent, a project or all; what runs goes to its end, mail waits')
      .option('--all', 'the whole installation, every project', false)
      .option('--reason <text>', 'why, for whoever looks at it later'),
    ['pause newsroom'],
    ['pause newsroom editor --reason "It repeats itself."'],
    ['pause --all', 'no turn begins anywhere'],
  ).action(action(pause));
  examples(
    program
      .command('resume [project] [agent]')
      .description('go on with what was paused; an agent gets a fresh allowance of turns')
      .option('--all', 'the whole installation, where all was paused', false),
    ['resume newsroom editor'],
    ['resume --all'],
  ).action(action(resume));
};

interface Options {
  all: boolean;
  reason?: string;
}

async function pause(
  session: Session,
  project: string | undefined,
  agent: string | undefined,
  { all, reason }: Options,
): Promise<undefined> {
  assertOne(project, all, 'pause');
  const api = await requireApi(session);
  if (project === undefined) {
    const answer = await api.pauseCell({ body: { reason } });
    tell(session, answer, ['Everything is paused: no turn begins until it is resumed. Mail is kept.'], 'resume --all');
  } else if (agent === undefined) {
    const answer = await api.pauseProject({ project, body: { reason } });
    const { active } = answer.project.turns;
    const rest = active === 0 ? '' : `; what runs goes to its end`;
    tell(session, answer, [`${project} is paused${rest}. Mail is kept.`], `resume ${project}`);
  } else {
    const answer = await api.pauseAgent({ project, agent, body: { reason } });
    const rest = answer.agent.activeTurn === null ? '' : `; a turn that runs goes to its end`;
    tell(session, answer, [`${agent} is paused${rest}. Its mail is kept.`], `resume ${project} ${agent}`);
  }
}

async function resume(
  session: Session,
  project: string | undefined,
  agent: string | undefined,
  { all }: Options,
): Promise<undefined> {
  assertOne(project, all, 'resume');
  const api = await requireApi(session);
  if (project === undefined) {
    tell(session, await api.resumeCell(), ['Turns begin again, but for what was paused by itself.'], 'status');
  } else if (agent === undefined) {
    const answer = await api.resumeProject({ project });
    const { agents, cellPaused } = await api.getProject({ project });
    const still = agents.filter(({ paused }) => paused !== null);
    tell(
      session,
      answer,
      [
        `${project} is not paused.`,
        ...(still.length === 0 ? [] : [`${ids(still)} stay${still.length === 1 ? 's' : ''} paused.`]),
        ...(cellPaused === null ? [] : ['Everything is paused, though: no turn begins.']),
      ],
      ...(still[0] ? [`resume ${project} ${still[0].id}`] : []),
      ...(cellPaused === null ? [`watch ${project}`] : ['resume --all']),
    );
  } else {
    const answer = await api.resumeAgent({ project, agent });
    const { unread } = answer.agent;
    const mail = unread === 0 ? '' : ` ${count(unread, 'message')} wait${unread === 1 ? 's' : ''} for it.`;
    tell(session, answer, [`${agent} is not paused.${mail}`], `watch ${project}`);
  }
}

function ids(agents: readonly { id: string }[]): string {
  return agents.map(({ id }) => id).join(', ');
}

function assertOne(project: string | undefined, all: boolean, command: string): void {
  if ((project === undefined) === all) return;
  throw new UsageError(`Name a project, or one of its agents; or say --all for every project.`, `${command} --help`);
}
