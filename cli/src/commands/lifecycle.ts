import { allProjects } from '../reach/api-client.js';
import { requireApi } from '../reach/reach.js';
import { count } from '../render/format.js';
import { say, sayJson, sayNext, type Session } from '../session.js';
import type { Register } from './action.js';
import { collected, wholeNumber } from './arguments.js';
import { examples } from './help.js';
import { tell } from './tell.js';

const decided = [
  'the version that you have read: refused where another one is the newest',
  wholeNumber(1, Number.MAX_SAFE_INTEGER),
] as const;

/** What a person does to a project as a whole. */
export const registerLifecycle: Register = (program, action) => {
  examples(program.command('start <project>').description('let a project run: its agents wake on mail'), [
    'start newsroom',
  ]).action(action(start));
  examples(
    program
      .command('stop <project>')
      .description('start no more turns; those that run go to their end')
      .option('--now', 'cancel turns that run', false),
    ['stop newsroom'],
    ['stop newsroom --now', 'also cancels what runs'],
  ).action(action(stop));
  examples(
    program
      .command('approve <project>')
      .description('accept the submitted report')
      .option('--report-version <n>', ...decided),
    ['approve newsroom'],
    ['approve newsroom --report-version 2', 'refused where another version is the newest'],
  ).action(action(approve));
  examples(
    program
      .command('request-changes <project> <recipient> <text...>')
      .description('send the report back, with a message that says what to change')
      .option('--report-version <n>', ...decided)
      .option('--approved', 'also where it was approved: the project runs again')
      .option('--attach <artifact>', 'an artifact for the reader, by its id or name; may be given again', collected),
    ['request-changes newsroom editor "Please name the gauge."'],
    ['request-changes newsroom editor "As in this." --attach example.md', 'with what has been published'],
  ).action(action(requestChanges));
  examples(
    program.command('tick [project]').description('have the scheduler look at a project now, or at all that run'),
    ['tick newsroom'],
    ['tick', 'every running project'],
  ).action(action(tick));
};

async function start(session: Session, project: string): Promise<undefined> {
  const api = await requireApi(session);
  const answer = await api.startProject({ project });
  const { agents } = await api.getProject({ project });
  const next = answer.project.messages > 0 ? `watch ${project}` : `send ${project} ${agents[0]?.id ?? 'AGENT'} P1 "…"`;
  tell(session, answer, [`${project} is running.`], next);
}

async function stop(session: Session, project: string, { now }: { now: boolean }): Promise<undefined> {
  const api = await requireApi(session);
  const answer = await api.stopProject({ project, body: { now } });
  const { active } = answer.project.turns;
  const rest = active === 0 ? '' : `; ${count(active, 'turn')} will go to the end`;
  const left = (await api.getProject({ project })).agents.some(({ undelivered }) => undelivered > 0);
  const next = [`start ${project}`, ...(now && left ? [`inbox ${project} --undelivered`] : [])];
  tell(session, answer, [`${project} is stopped${rest}. Mail is kept.`], ...next);
}

async function approve(
  session: Session,
  project: string,
  { reportVersion: read }: { reportVersion?: number },
): Promise<undefined> {
  const answer = await (await requireApi(session)).approveProject({ project, body: { version: read } });
  const version = answer.project.reportVersion ?? 1;
  const done = `${project} is completed: version ${version} of the report is approved.`;
  tell(session, answer, [done], `report ${project}`);
}

async function requestChanges(
  session: Session,
  project: string,
  recipient: string,
  words: string[],
  {
    reportVersion: version,
    approved,
    attach: attachments,
  }: { reportVersion?: number; approved?: true; attach?: string[] },
): Promise<undefined> {
  const api = await requireApi(session);
  // Without the option it is the default of the server, which refuses what was approved.
  const isApproved = approved === true && (await api.getProject({ project })).project.status === 'completed';
  const status = isApproved ? ('completed' as const) : undefined;
  const body = { recipient, body: words.join(' '), version, attachments, status };
  const answer = await api.requestChanges({ project, body });
  const sent = `Sent to ${recipient} as ${answer.message.id}; ${project} is running again.`;
  tell(session, answer, [sent], `watch ${project}`);
}

async function tick(session: Session, named: string | undefined): Promise<undefined> {
  const api = await requireApi(session);
  const projects = named === undefined ? await allProjects(api) : [named];
  const answers = await Promise.all(projects.map((project) => api.tickProject({ project })));
  // Without a name, those that do not run are not meant.
  const looked = answers.filter(({ status }) => named !== undefined || status === 'running');
  sayJson(session, looked);
  if (looked.length === 0) say(session, 'No project is running.');
  for (const { id, status } of looked) {
    const then = status === 'running' ? 'mail that waits starts turns' : `it is ${status}, so nothing starts`;
    say(session, `The scheduler looks at ${id} now: ${then}.`);
  }
  sayNext(session, named === undefined ? 'status' : `status ${named}`);
}
