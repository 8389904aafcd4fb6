import { requireApi } from '../reach/reach.js';
import { count } from '../render/format.js';
import type { Session } from '../session.js';
import type { Register } from './action.js';
import { confirm } from './confirm.js';
import { examples } from './help.js';
import { tell } from './tell.js';

export const registerDelete: Register = (program, action) => {
  examples(
    program
      .command('delete <project>')
      .description('delete a project: its turns are cancelled, and nothing of it is kept')
      .option('--yes', 'do not ask', false),
    ['delete newsroom', 'says what will be lost, and asks'],
    ['delete newsroom --yes'],
  ).action(action(deleteProject));
};

async function deleteProject(session: Session, name: string, { yes }: { yes: boolean }): Promise<undefined> {
  const api = await requireApi(session);
  const { project } = await api.getProject({ project: name });
  const held = [
    count(project.messages, 'message'),
    count(project.artifacts, 'artifact'),
    count(project.turns.total, 'turn'),
  ];
  const running =
    project.turns.active === 0 ? '' : ` ${count(project.turns.active, 'turn')} at work will be cancelled.`;
  const warning = `${name} is ${project.status}, with ${held.join(', ')}. None of it can be had back.${running}`;
  await confirm(session, warning, { yes, command: `delete ${name}` });
  tell(session, await api.deleteProject({ project: name }), [`${name} is deleted.`], 'status');
}
