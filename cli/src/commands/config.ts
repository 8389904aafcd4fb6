import { readProjectFile } from '@suzumio/shared/config/load-project';
import { renderConfig } from '@suzumio/shared/config/render-config';
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
      .option('--config-root <dir>', 'where imports may come from, instead of the directory of the file'),
    ['config render newsroom.yaml'],
    ['config render newsroom.yaml --config-root . > rendered.yaml', 'a file that needs no other'],
  ).action(action(render));
  examples(config, ['config render newsroom.yaml']);
};

function render(session: Session, file: string, options: { configRoot?: string }): Promise<undefined> {
  const loaded = readProjectFile(file, { env: session.context.env, configRoot: options.configRoot });
  sayWarnings(session, loaded);
  sayJson(session, loaded.config);
  if (!session.json) session.context.out.write(renderConfig(loaded.config));
  return Promise.resolve(undefined);
}
