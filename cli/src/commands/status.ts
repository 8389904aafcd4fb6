import { allItems } from '@suzumio/contract/client/all-items';
import type { Labels } from '@suzumio/contract/model/labels';
import { type ProjectStatus, projectStatuses } from '@suzumio/contract/model/project-status';
import type { ProjectDetailAnswer } from '@suzumio/contract/operations/projects';
import { type ExitCode, exitCodes } from '../exit-codes.js';
import { openDirectory } from '../reach/open-directory.js';
import { findApi } from '../reach/reach.js';
import { openWarning } from '../render/open-warning.js';
import { renderProjects, renderStatus } from '../render/status.js';
import { sayHint, sayJson, say, sayNext, type Session } from '../session.js';
import { UsageError } from '../usage-error.js';

import type { Register } from './action.js';
import { gatherLabels, gatherStatuses } from './arguments.js';
import { examples } from './help.js';
import { sayUnserved } from './unserved.js';

export const registerStatus: Register = (program, action) => {
  examples(
    program
      .command('status [project]')
      .description('say how a project stands, or all of them')
      .option('--label <key=value>', 'of all: only those filed under this; may be given again', gatherLabels)
      .option('--state <states>', `of all: only those that are ${projectStatuses.join(', ')}`, gatherStatuses),
    ['status', 'a line for each project'],
    ['status --state running,submitted --label team=news'],
    ['status newsroom', 'what each agent is at, why nothing moves, what may come next'],
  ).action(action(status));
};

interface StatusOptions {
  readonly label?: Labels;
  readonly state?: ProjectStatus[];
}

async function status(
  session: Session,
  project: string | undefined,
  { label: labels, state: statuses }: StatusOptions,
): Promise<ExitCode> {
  const filtered = labels !== undefined || statuses !== undefined;
  if (project !== undefined && filtered) {
    throw new UsageError('--label and --state choose among all projects: leave out the project, or them.', 'status');
  }
  const { context } = session;
  const api = await findApi(session);
  const health = await api?.getHealth();
  if (health?.access === 'open') context.err.write(`${openWarning}\n`);
  if (health?.queue === 'away') {
    context.err.write(
      `WARNING: the server's queue does not answer: turns start late, or not.\nnext: ${session.suzumio} doctor\n`,
    );
  }
  const reads = api ?? (await openDirectory(session));
  if (project !== undefined) {
    const detail = await reads.getProject({ project });
    sayJson(session, detail);
    const { lines, next } = renderStatus(detail, context);
    say(session, ...lines);
    const left = !api && isRunning(detail);
    if (left) sayUnserved(session);
    sayNext(session, ...(left ? ['serve'] : []), ...next);
    return exitCodes.ok;
  }
  const label = Object.entries(labels ?? {}).map(([key, value]) => `${key}=${value}`);
  const wanted = { ...(label.length === 0 ? {} : { label }), status: statuses };
  const items = await allItems((after: string | undefined) =>
    reads.listProjects({ query: { include: 'detail', ...wanted, after } }),
  );
  const details = items.flatMap(({ detail }) => detail ?? []);
  const broken = items.flatMap(({ id, problem }) => (problem ? [{ id, ...problem }] : []));
  sayJson(session, details);
  if (details.length === 0 && broken.length === 0) {
    say(
      session,
      filtered
        ? 'No project is like that.'
        : `No projects ${session.url === undefined ? `in ${session.root}` : `at ${session.url}`} yet.`,
    );
    sayHint(session, filtered ? 'status' : 'init FILE');
    return exitCodes.ok;
  }
  say(session, ...renderProjects(details, context));
  if (!api && details.some(isRunning)) sayUnserved(session);
  for (const { id, code, detail } of broken) context.err.write(`${id}: ${code}: ${detail}\n`);
  if (broken.length > 0) return exitCodes.failed;
  const last = details.at(-1)?.project.id ?? 'PROJECT';
  sayHint(session, `status ${last}`);
  return exitCodes.ok;
}

/** Whether a project changes by itself where a server runs. */
function isRunning({ project }: ProjectDetailAnswer): boolean {
  return project.status === 'running' || project.turns.active > 0;
}
