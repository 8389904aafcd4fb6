import type { InitOptions } from '../init.js';
import type { Session } from '../session.js';
import type { Register } from './action.js';
import { allowProvider, allowToolpack, gatherLabels, gatherPaths, gatherProviders } from './arguments.js';
import { examples } from './help.js';

export const registerInit: Register = (program, action) => {
  examples(
    program
      .command('init [file]')
      .description('check a project file and make its project; without a file, ask for what one needs and write it')
      .option('--repository', 'write the project file of a team for the Git repository in this directory', false)
      .option('--config-root <dir>', 'where imports may come from, instead of the directory of the file')
      .option('--label <key=value>', 'file it under this; may be given again', gatherLabels)
      .option('--allow-process', 'let its turns run as processes, where a server allows that, too', false)
      .option('--allow-provider <address=key>', allowProvider, gatherProviders)
      .option('--allow-toolpack <dir>', allowToolpack, gatherPaths),
    ['init newsroom.yaml', 'makes the project that the file describes'],
    ['init newsroom.yaml --label team=news --label env=test'],
    ['init', 'on a terminal: asks, and writes a file'],
    ['init --repository', 'writes a file: maintainer, developer and reviewer for the repository here'],
  ).action(
    action(async (session: Session, file: string | undefined, options: InitOptions) =>
      (await import('../init.js')).init(session, file, options),
    ),
  );
};
