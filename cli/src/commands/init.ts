import { SuzumioError } from '@suzumio/shared/errors/suzumio-error';
import { Cell } from '@suzumio/shared/store/cell';
import { createFrom, loadForUse } from '../project-file.js';
import { findApi } from '../reach/reach.js';
import { count } from '../render/format.js';
import { sayJson, say, sayNext, type Session } from '../session.js';
import type { Register } from './action.js';

export const registerInit: Register = (program, action) => {
  program
    .command('init <file>')
    .description('check a project file and make its project in the data directory')
    .action(action(init));
};

async function init(session: Session, file: string): Promise<undefined> {
  if (session.url !== undefined) {
    throw new SuzumioError(
      'invalid-request',
      'init makes a project in the data directory of this machine: leave out --url and SUZUMIO_URL.',
    );
  }
  const loaded = loadForUse(session, file);
  const { config } = loaded;
  const cell = Cell.open(session.root);
  try {
    await createFrom(cell, loaded);
    const directory = cell.directory.projectDir(config.name);
    sayJson(session, { project: config.name, directory });
    const agents = Object.keys(config.agents);
    say(
      session,
      `${config.name} is initialized: ${count(agents.length, 'agent')}, ${count(config.channels.length, 'channel')}`,
    );
    say(session, `data: ${directory}`);
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
