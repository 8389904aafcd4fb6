import type { LoadedProject, ProjectSource } from '@suzumio/core/config/project-source';
import type { Labels } from '@suzumio/contract/model/labels';
import type { FileConfig, ProjectConfig } from '@suzumio/contract/model/project-config';
import { requireRepositories } from '@suzumio/runtime/repository/project-repositories';
import { Cell } from '@suzumio/store/cell/cell';
import { admission, admitOwnFile, overrulingOptions, type OwnFileOptions } from './host-policy.js';
import {
  createFrom,
  loadForPosting,
  loadForUse,
  postProject,
  refuseOverrulingThere,
  sayGrant,
} from './project-file.js';
import { findApi, requireApi } from './reach/reach.js';
import { count } from './render/format.js';
import { sayJson, say, sayNext, type Session } from './session.js';
import { refuseOptions } from './usage-error.js';

export interface InitOptions extends OwnFileOptions {
  readonly configRoot?: string;
  readonly label?: Labels;
  /** Whether a file is to be written for the repository here. */
  readonly repository?: boolean;
}

/** Makes the project of a file; without a file, writes one for a repository or for what a person answers. */
export async function init(
  session: Session,
  file: string | undefined,
  { configRoot, label: labels, repository = false, ...options }: InitOptions,
): Promise<undefined> {
  if (file === undefined) {
    const given = {
      '--config-root': configRoot !== undefined,
      '--label': labels !== undefined,
      ...Object.fromEntries(overrulingOptions(options).map((option) => [option, true])),
    };
    refuseOptions(given, 'is about a project file: name it.', 'init --help');
    return (await import('./commands/new-project.js')).newProject(session, { repository });
  }
  refuseOptions({ '--repository': repository }, 'writes a file of its own: name none.', 'init --repository');
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
  const admitted = admitOwnFile(session, loaded, await admission(session, loaded, options));
  const absent = await requireRepositories(loaded);
  const cell = Cell.open(session.root);
  try {
    await createFrom(cell, loaded, { ...admitted, labels });
    const directory = cell.directory.projectDir(config.name);
    sayJson(session, { project: config.name, directory });
    sayInitialized(session, config);
    say(session, `data: ${directory}`);
    sayGrant(session, loaded, admitted.grant);
    for (const { message } of absent) session.context.err.write(`warning: ${message}\n`);
    await warnOfImage(session, config);
    const running = (await findApi(session)) !== undefined;
    sayNext(session, ...(running ? [] : ['serve']), ...firstSteps(config));
  } finally {
    await cell.close();
  }
}

/** A turn in a container needs its image on the engine's host, which may be another one than this. */
async function warnOfImage({ context }: Session, { backend, tools }: ProjectConfig): Promise<void> {
  if (backend.kind === 'process') return;
  const { checkDocker, howToHave } = await import('@suzumio/turn-worker');
  const { problem, missingToolpacks = [] } = await checkDocker({ image: backend.image, environment: context.env });
  const missing = missingToolpacks.filter((pack) => (tools.toolpacks as readonly unknown[]).includes(pack));
  if (problem?.code === 'image-missing') {
    context.err.write(
      `warning: the engine of this machine has no image ${backend.image}; turns that run here need it.\n`,
    );
  } else if (missing.length > 0) {
    context.err.write(
      `warning: the runner in ${backend.image} has no tools of the toolpacks ${missing.join(' and ')}: ${howToHave(backend.image)}.\n`,
    );
  }
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
