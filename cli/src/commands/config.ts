import { withoutEnvValues } from '@suzumio/core/config/agent-env';
import { readProjectFile } from '@suzumio/runtime/disk/load-project-file';
import { renderConfig } from '@suzumio/core/config/render-config';
import { sayJson, type Session } from '../session.js';
import { sayWarnings } from '../project-file.js';
import type { Register } from './action.js';
import { examples } from './help.js';

export const registerConfig: Register = (program, action) => {
  const config = program.command('config').description('look at project files');
  examples(
    config
      .command('render <file>')
      .description('print a project file with imports, environment, extends and defaults resolved')
      .option('--config-root <dir>', 'where imports may come from, instead of the directory of the file')
      .option('--show-env', "print the values of agents' env, which may be secrets", false),
    ['config render newsroom.yaml'],
    ['config render newsroom.yaml --show-env > rendered.yaml', 'a file that needs no other, nor a variable'],
  ).action(action(render));
  examples(config, ['config render newsroom.yaml']);
};

function render(
  session: Session,
  file: string,
  options: { configRoot?: string; showEnv: boolean },
): Promise<undefined> {
  const loaded = readProjectFile(file, { env: session.context.env, configRoot: options.configRoot });
  sayWarnings(session, loaded);
  const config = options.showEnv ? loaded.config : withoutEnvValues(loaded.config);
  sayJson(session, config);
  if (!session.json) session.context.out.write(renderConfig(config));
  return Promise.resolve(undefined);
}
