import { sayJson, type Session } from '../session.js';
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

async function render(
  session: Session,
  file: string,
  options: { configRoot?: string; showEnv: boolean },
): Promise<undefined> {
  const { readProjectFile } = await import('@suzumio/runtime/disk/load-project-file');
  const { withoutEnvValues } = await import('@suzumio/core/config/agent-env');
  const { renderConfig } = await import('@suzumio/core/config/render-config');
  const { sayWarnings } = await import('../project-file.js');
  const loaded = readProjectFile(file, { env: session.context.env, configRoot: options.configRoot });
  sayWarnings(session, loaded);
  const config = options.showEnv ? loaded.config : withoutEnvValues(loaded.config);
  sayJson(session, config);
  if (!session.json) session.context.out.write(renderConfig(config));
}
