import { configDefaults } from '@suzumio/shared/config/defaults';
import type { LoadedProject } from '@suzumio/shared/config/load-project';
import { renderConfig } from '@suzumio/shared/config/render-config';
import { isSuzumioError } from '@suzumio/shared/errors/suzumio-error';
import { Cell } from '@suzumio/shared/store/cell';
import { readConfig } from '@suzumio/shared/store/queries/projects';
import { ReadOnlyCell } from '@suzumio/shared/store/read-only-cell';
import { followTimeline } from '../live-timeline.js';
import { createFrom, loadForUse } from '../project-file.js';
import { type ApiClient } from '../reach/api-client.js';
import { findApi, requireApi } from '../reach/reach.js';
import { say, sayNext, type Session } from '../session.js';
import { startStack } from './stack.js';
import { interruption, sayServing, sayStopping } from './serve.js';

export interface UpOptions {
  host?: string;
  port?: number;
}

/** Serves, and does everything that a project file needs to be run and followed. */
export async function up(session: Session, file: string | undefined, options: UpOptions): Promise<undefined> {
  const loaded = file === undefined ? undefined : loadForUse(session, file);
  const running = await findApi(session);
  if (running) {
    say(session, `Using the server that runs at ${running.url}.`);
    if (loaded) await runProject(session, running, loaded);
    return;
  }
  const http = (loaded?.config ?? configDefaults).observability.http;
  const asProcesses = loaded?.config.backend.kind === 'process';
  const stack = await startStack({
    root: session.root,
    host: options.host ?? http.host,
    port: options.port ?? http.port,
    scheduler: true,
    backends: asProcesses ? ['docker', 'process'] : ['docker'],
  });
  try {
    await sayServing(session, stack, loaded ? [] : ['up FILE', 'init FILE', 'status']);
    if (asProcesses)
      say(
        session,
        'Turns of this project run as processes of this machine, without any isolation: its file asks for it.',
      );
    if (loaded) await runProject(session, await requireApi(session), loaded);
    await interruption(session.context.interrupted);
    sayStopping(session);
  } finally {
    await stack.stop();
  }
  return undefined;
}

/** Makes the project where it is new, starts it where it is not running, and follows it until Ctrl-C. */
async function runProject(session: Session, api: ApiClient, loaded: LoadedProject): Promise<void> {
  const project = loaded.config.name;
  const isNew = await createIfNew(session, loaded);
  const { status, messages } = (await api.detail(project)).project;
  if (status === 'initialized' || status === 'stopped') await api.start(project);
  if (isNew || messages === 0) sayNext(session, `send ${project} ${Object.keys(loaded.config.agents)[0] ?? ''} P1 "…"`);
  say(session, '');
  await followTimeline(session, api, { project, history: 20, signal: session.context.interrupted });
}

/** A project that is there already stays as it was made, whatever its file says now. */
async function createIfNew(session: Session, loaded: LoadedProject): Promise<boolean> {
  const { name } = loaded.config;
  const cell = Cell.open(session.root);
  try {
    await createFrom(cell, loaded);
    return true;
  } catch (error) {
    if (!isSuzumioError(error, 'project-exists')) throw error;
    const made = new ReadOnlyCell(session.root).read(name, readConfig);
    if (renderConfig(made) !== renderConfig(loaded.config)) {
      say(
        session,
        `${name} was made from another version of this file and stays as it is; change the name in the file for a new project.`,
      );
    }
    return false;
  } finally {
    await cell.close();
  }
}
