import { SuzumioError } from '@suzumio/shared/errors/suzumio-error';
import type { Labels } from '@suzumio/shared/model/labels';
import { Cell } from '@suzumio/shared/store/cell';
import { admitOwnFile, hostPolicy, type PolicyOptions } from '../host-policy.js';
import { createFrom, loadForUse, sayGrant } from '../project-file.js';
import { findApi } from '../reach/reach.js';
import { count } from '../render/format.js';
import { sayJson, say, sayNext, type Session } from '../session.js';
import type { Register } from './action.js';
import { gatherLabels } from './arguments.js';
import { examples } from './help.js';

export const registerInit: Register = (program, action) => {
  examples(
    program
      .command('init [file]')
      .description('check a project file and make its project; without a file, ask for what one needs and write it')
      .option('--config-root <dir>', 'refuse imports from outside this directory')
      .option('--label <key=value>', 'file it under this; may be given again', gatherLabels)
      .option('--allow-process', 'let its turns run as processes, where a server allows that, too', false),
    ['init newsroom.yaml', 'makes the project that the file describes'],
    ['init newsroom.yaml --label team=news --label env=test'],
    ['init', 'on a terminal: asks, and writes a file'],
  ).action(action(init));
};

async function init(
  session: Session,
  file: string | undefined,
  { configRoot, label: labels, ...options }: PolicyOptions & { configRoot?: string; label?: Labels },
): Promise<undefined> {
  if (file === undefined) return (await import('./new-project.js')).newProject(session);
  if (session.url !== undefined) {
    throw new SuzumioError(
      'invalid-request',
      'init makes a project in the data directory of this machine: leave out --url and SUZUMIO_URL.',
    );
  }
  const loaded = loadForUse(session, file, configRoot);
  const { config } = loaded;
  const grant = admitOwnFile(session, loaded, hostPolicy(session, options));
  const cell = Cell.open(session.root);
  try {
    await createFrom(cell, loaded, { grant, labels });
    const directory = cell.directory.projectDir(config.name);
    sayJson(session, { project: config.name, directory });
    const agents = Object.keys(config.agents);
    say(
      session,
      `${config.name} is initialized: ${count(agents.length, 'agent')}, ${count(config.channels.length, 'channel')}`,
    );
    say(session, `data: ${directory}`);
    sayGrant(session, loaded, grant);
    const running = (await findApi(session)) !== undefined;
    sayNext(
      session,
      ...(running ? [] : ['serve']),
      `start ${config.name}`,
      `send ${config.name} ${agents[0] ?? ''} P1 "…"`,
    );
  } finally {
    await cell.close();
  }
}
