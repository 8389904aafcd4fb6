import type { LoadedProject, ProjectSource } from '@suzumio/core/config/project-source';
import type { Labels } from '@suzumio/contract/model/labels';
import type { FileConfig, ProjectConfig } from '@suzumio/contract/model/project-config';
import { Cell } from '@suzumio/store/cell/cell';
import { admission, admitOwnFile, type OwnFileOptions } from '../host-policy.js';
import {
  createFrom,
  loadForPosting,
  loadForUse,
  postProject,
  refuseOverrulingThere,
  sayGrant,
} from '../project-file.js';
import { findApi, requireApi } from '../reach/reach.js';
import { count } from '../render/format.js';
import { sayJson, say, sayNext, type Session } from '../session.js';
import type { Register } from './action.js';
import { allowProvider, gatherLabels, gatherProviders } from './arguments.js';
import { examples } from './help.js';

export const registerInit: Register = (program, action) => {
  examples(
    program
      .command('init [file]')
      .description('check a project file and make its project; without a file, ask for what one needs and write it')
      .option('--config-root <dir>', 'where imports may come from, instead of the directory of the file')
      .option('--label <key=value>', 'file it under this; may be given again', gatherLabels)
      .option('--allow-process', 'let its turns run as processes, where a server allows that, too', false)
      .option('--allow-provider <address=key>', allowProvider, gatherProviders),
    ['init newsroom.yaml', 'makes the project that the file describes'],
    ['init newsroom.yaml --label team=news --label env=test'],
    ['init', 'on a terminal: asks, and writes a file'],
  ).action(action(init));
};

async function init(
  session: Session,
  file: string | undefined,
  { configRoot, label: labels, ...options }: OwnFileOptions & { configRoot?: string; label?: Labels },
): Promise<undefined> {
  if (file === undefined) return (await import('./new-project.js')).newProject(session);
  if (session.url !== undefined) refuseOverrulingThere(options);
  if (session.url === undefined) await makeHere(session, await loadForUse(session, file, configRoot), options, labels);
  else await makeThere(session, loadForPosting(session, file, configRoot), labels);
}

async function makeHere(
  session: Session,
  loaded: LoadedProject,
  options: OwnFileOptions,
  labels: Labels | undefined,
): Promise<void> {
  const { config } = loaded;
  const grant = admitOwnFile(session, loaded, await admission(session, loaded, options));
  const cell = Cell.open(session.root);
  try {
    await createFrom(cell, loaded, { grant, labels });
    const directory = cell.directory.projectDir(config.name);
    sayJson(session, { project: config.name, directory });
    sayInitialized(session, config);
    say(session, `data: ${directory}`);
    sayGrant(session, loaded, grant);
    await warnOfImage(session, config);
    const running = (await findApi(session)) !== undefined;
    sayNext(session, ...(running ? [] : ['serve']), ...firstSteps(config));
  } finally {
    await cell.close();
  }
}

/** A turn in a container needs its image on the engine's host, which may be another one than this. */
async function warnOfImage({ context }: Session, { backend }: ProjectConfig): Promise<void> {
  if (backend.kind === 'process') return;
  const { checkDocker } = await import('@suzumio/turn-worker');
  const { problem } = await checkDocker({ image: backend.image });
  if (problem?.code !== 'image-missing') return;
  context.err.write(
    `warning: the engine of this machine has no image ${backend.image}; turns that run here need it.\n`,
  );
}

async function makeThere(session: Session, source: ProjectSource, labels: Labels | undefined): Promise<void> {
  const { config } = source;
  await postProject(await requireApi(session), source, { labels });
  sayJson(session, { project: config.name });
  sayInitialized(session, config);
  sayNext(session, ...firstSteps(config));
}

function sayInitialized(session: Session, { name, agents, channels }: FileConfig): void {
  const team = count(Object.keys(agents).length, 'agent');
  say(session, `${name} is initialized: ${team}, ${count(channels.length, 'channel')}`);
}

function firstSteps({ name, agents }: FileConfig): string[] {
  return [`start ${name}`, `send ${name} ${Object.keys(agents)[0] ?? ''} P1 "…"`];
}
