import { configDefaults } from '@suzumio/shared/config/defaults';
import type { LoadedProject } from '@suzumio/shared/config/project-source';
import { backendOf, isExternal } from '@suzumio/shared/config/sandbox-of';
import { renderConfig } from '@suzumio/shared/config/render-config';
import { isSuzumioError } from '@suzumio/shared/errors/suzumio-error';
import type { Grant } from '@suzumio/shared/policy/grant';
import type { Policy } from '@suzumio/shared/policy/policy';
import { Cell } from '@suzumio/shared/store/cell';
import { readConfig } from '@suzumio/shared/store/queries/projects';
import { ReadOnlyCell } from '@suzumio/shared/store/read-only-cell';
import { admitOwnFile, hostPolicy, type PolicyOptions } from '../host-policy.js';
import { followTimeline } from '../live-timeline.js';
import { createFrom, loadForUse, sayGrant } from '../project-file.js';
import { type ApiClient } from '../reach/api-client.js';
import { findApi, requireApi } from '../reach/reach.js';
import { say, sayNext, type Session } from '../session.js';
import { accessFor } from './access.js';
import { startStack } from './stack.js';
import { interruption, sayServing, sayStopping } from './serve.js';

export interface UpOptions extends PolicyOptions {
  host?: string;
  port?: number;
  metricsPort?: number;
  configRoot?: string;
}

/** Serves, and does everything that a project file needs to be run and followed. */
export async function up(session: Session, file: string | undefined, options: UpOptions): Promise<undefined> {
  const policy = hostPolicy(session, options);
  const project = file === undefined ? undefined : await ownProject(session, file, options, policy);
  const running = await findApi(session);
  if (running) {
    say(session, `Using the server that runs at ${running.url}.`);
    if (project) await runProject(session, running, project);
    return;
  }
  const http = (project?.loaded.config ?? configDefaults).observability.http;
  const stack = await startStack({
    root: session.root,
    host: options.host ?? http.host,
    port: options.port ?? http.port,
    metricsPort: options.metricsPort,
    scheduler: true,
    policy,
    access: accessFor(session),
    environment: session.context.env,
  });
  try {
    await sayServing(session, stack, project ? [] : ['up FILE', 'init FILE', 'status']);
    if (project) sayProcesses(session, project.loaded);
    if (project) await runProject(session, await requireApi(session), project);
    await interruption(session.context.interrupted);
    sayStopping(session);
  } finally {
    await stack.stop();
  }
  return undefined;
}

/** A project of this person's own disk, and what that allows it. */
interface OwnProject {
  readonly loaded: LoadedProject;
  readonly grant: Grant | undefined;
}

async function ownProject(
  session: Session,
  file: string,
  { configRoot }: UpOptions,
  policy: Policy,
): Promise<OwnProject> {
  const loaded = await loadForUse(session, file, configRoot);
  return { loaded, grant: admitOwnFile(session, loaded, policy) };
}

function sayProcesses(session: Session, { config }: LoadedProject): void {
  const agents = Object.keys(config.agents);
  const unsealed = agents.filter((id) => {
    const agent = config.agents[id] ?? {};
    return !isExternal(agent) && backendOf(config, agent) === 'process';
  });
  if (unsealed.length === 0) return;
  const whose = unsealed.length === agents.length ? 'this project' : unsealed.join(', ');
  say(session, `Turns of ${whose} run as processes of this machine, without any isolation: its file asks for it.`);
}

/** Makes the project where it is new, starts it where it is not running, and follows it until Ctrl-C. */
async function runProject(session: Session, api: ApiClient, own: OwnProject): Promise<void> {
  const { config } = own.loaded;
  const project = config.name;
  const isNew = await createIfNew(session, own);
  const { status, messages } = (await api.detail(project)).project;
  if (status === 'initialized' || status === 'stopped') await api.start(project);
  if (isNew || messages === 0) sayNext(session, `send ${project} ${Object.keys(config.agents)[0] ?? ''} P1 "…"`);
  say(session, '');
  await followTimeline(session, api, { project, history: 20, signal: session.context.interrupted });
}

/** A project that is there already stays as it was made, whatever its file says now. */
async function createIfNew(session: Session, { loaded, grant }: OwnProject): Promise<boolean> {
  const { name } = loaded.config;
  const cell = Cell.open(session.root);
  try {
    await createFrom(cell, loaded, { grant });
    sayGrant(session, loaded, grant);
    return true;
  } catch (error) {
    if (!isSuzumioError(error, 'project-exists')) throw error;
    const made = new ReadOnlyCell(session.root).read(name, readConfig);
    if (renderConfig(made) !== renderConfig(loaded.config)) {
      say(
        session,
        `${name} was made from another version of this file, or of a profile in it, and stays as it is; change the name in the file for a new project.`,
      );
    }
    return false;
  } finally {
    await cell.close();
  }
}
