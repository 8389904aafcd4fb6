import { allItems } from '@suzumio/contract/client/all-items';
import { openDirectory } from '../reach/open-directory.js';
import { findApi } from '../reach/reach.js';
import { renderWhy, renderWhys } from '../render/why.js';
import { say, sayJson, sayNext, type Session } from '../session.js';
import type { Register } from './action.js';
import { examples } from './help.js';
import { sayUnserved } from './unserved.js';

/** Explains why agents are idle. */
export const registerWhy: Register = (program, action) => {
  examples(
    program
      .command('why <project> [agent]')
      .description('say why an agent, or each of a project, is quiet, and what would change that'),
    ['why newsroom checker', 'no mail, a failure, a pause, a limit, no worker: whatever it is'],
    ['why newsroom', 'all of its agents, those together that wait for the same'],
    ["why newsroom checker --json | jq -r '.reasons[].code'", 'for a program'],
  ).action(action(why));
};

async function why(session: Session, project: string, agent?: string): Promise<undefined> {
  const server = await findApi(session);
  const api = server ?? (await openDirectory(session));
  const { columns } = session.context.out;
  const answers =
    agent === undefined
      ? await allItems((after: string | undefined) => api.whyProject({ project, query: { after } }))
      : [await api.whyAgent({ project, agent })];
  sayJson(session, agent === undefined ? answers : answers[0]);
  say(
    session,
    ...(agent === undefined ? renderWhys(answers, columns) : answers.flatMap((one) => renderWhy(one, columns))),
  );
  if (!server) sayUnserved(session);
  const next = new Set(answers.flatMap(({ reasons }) => reasons.flatMap(({ next: step }) => step ?? [])));
  sayNext(session, ...(server ? [] : ['serve']), ...[...next].slice(0, mostSteps));
}

/** Further steps are those of agents that are named later. */
const mostSteps = 5;
