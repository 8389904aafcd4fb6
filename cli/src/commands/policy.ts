import type { CheckOptions } from '../policy.js';
import type { Session } from '../session.js';
import type { Register } from './action.js';
import { examples } from './help.js';

export const registerPolicy: Register = (program, action) => {
  const policy = program
    .command('policy')
    .description('what project files may ask of this machine, or of the server of --url');
  examples(
    policy.command('show').description('print the policy that holds here or at the server, its defaults written out'),
    ['policy show'],
  ).action(action(async (session: Session) => (await import('../policy.js')).showPolicy(session)));
  examples(
    policy
      .command('check <file>')
      .description(
        'say what this machine or the server does not allow a project file, and what `up` and `init` allow it',
      )
      .option('--posted', 'as it is posted to the API: from a stranger, as a server takes every file', false)
      .option('--config-root <dir>', 'where imports may come from, instead of the directory of the file'),
    ['policy check newsroom.yaml'],
    ['policy check newsroom.yaml --posted', 'by the policy alone'],
  ).action(
    action(async (session: Session, file: string, options: CheckOptions) =>
      (await import('../policy.js')).checkAgainstPolicy(session, file, options),
    ),
  );
  examples(policy, ['policy show'], ['policy check newsroom.yaml']);
};
