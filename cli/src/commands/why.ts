import { openDirectory } from '../reach/open-directory.js';
import { findApi } from '../reach/reach.js';
import { renderWhy } from '../render/why.js';
import { say, sayJson, sayNext, type Session } from '../session.js';
import type { Register } from './action.js';
import { examples } from './help.js';
import { sayUnserved } from './unserved.js';

/** Explains why an agent is idle. */
export const registerWhy: Register = (program, action) => {
  examples(
    program.command('why <project> <agent>').description('say why an agent is quiet, and what would change that'),
    ['why newsroom checker', 'no mail, a failure, a pause, a limit, no worker: whatever it is'],
    ["why newsroom checker --json | jq -r '.reasons[].code'", 'for a program'],
  ).action(action(why));
};

async function why(session: Session, project: string, agent: string): Promise<undefined> {
  const api = await findApi(session);
  const answer = await (api ?? (await openDirectory(session))).whyAgent({ project, agent });
  sayJson(session, answer);
  say(session, ...renderWhy(answer, session.context.out.columns));
  if (!api) sayUnserved(session);
  const next = answer.reasons.flatMap(({ next: step }) => step ?? []);
  sayNext(session, ...new Set([...(api ? [] : ['serve']), ...next]));
}
