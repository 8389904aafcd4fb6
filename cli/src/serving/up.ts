import { configDefaults } from '@suzumio/core/config/defaults';
import type { LoadedProject, ProjectSource } from '@suzumio/core/config/project-source';
import { backendOf, isExternal } from '@suzumio/core/config/sandbox-of';
import { isSuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { Cell } from '@suzumio/store/cell/cell';
import { requireRepositories } from '@suzumio/runtime/repository/project-repositories';
import { readProjectFile } from '@suzumio/runtime/disk/load-project-file';
import { keepGrant, offerFile } from '../change-config.js';
import {
  type Admitted,
  admission,
  admitOwnFile,
  hostPolicy,
  overrulingOptions,
  type OwnFileOptions,
} from '../host-policy.js';
import { followTimeline } from '../live-timeline.js';
import {
  createFrom,
  loadForPosting,
  loadForUse,
  refuseOverrulingThere,
  postProject,
  sayGrant,
} from '../project-file.js';
import { type ApiClient } from '../reach/api-client.js';
import { findApi, requireApi } from '../reach/reach.js';
import { say, sayJson, sayNext, type Session } from '../session.js';
import { refuseOptions, UsageError } from '../usage-error.js';
import { accessFor } from './access.js';
import { startStack } from './stack.js';
import { interruption, sayServing, sayStopping, untilEnd } from './serve.js';

export interface UpOptions extends OwnFileOptions {
  host?: string;
  port?: number;
  metricsPort?: number;
  configRoot?: string;
  quiet?: true;
  /** Whether a file that differs from its project's is applied without a question. */
  apply?: true;
}

/** Serves, and does everything that a project file needs to be run and followed. */
export async function up(session: Session, file: string | undefined, options: UpOptions): Promise<undefined> {
  refuseIdleOptions(session, file, options);
  if (session.url !== undefined) return upThere(session, file, options);
  const policy = hostPolicy(session, options);
  const project = file === undefined ? undefined : await ownProject(session, file, options);
  const running = await findApi(session);
  if (running) {
    sayUsing(session, running, file);
    for (const option of serverOptions(options)) {
      session.context.err.write(`${option} does nothing: the server runs already.\n`);
    }
    if (project) await runProject(session, running, project.following, options);
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
  const until = untilEnd(session, stack);
  try {
    if (project) {
      await sayServing(session, stack, []);
      sayProcesses(session, project.loaded);
      await runProject(session, await requireApi(session), project.following, { ...options, until });
    } else {
      sayJson(session, { url: stack.url, root: session.root }, 'line');
      await sayServing(session, stack, ['up FILE', 'init FILE', 'status']);
    }
    await interruption(until);
    stack.failed.throwIfAborted();
    sayStopping(session, stack);
  } finally {
    await stack.stop();
  }
  return undefined;
}

function refuseIdleOptions(session: Session, file: string | undefined, options: UpOptions): void {
  const { configRoot, quiet, apply } = options;
  if (file === undefined) {
    const aboutFile = {
      '--config-root': configRoot !== undefined,
      ...Object.fromEntries(overrulingOptions({ ...options, allowProcess: false }).map((option) => [option, true])),
      '--quiet': quiet === true,
      '--apply': apply === true,
    };
    refuseOptions(aboutFile, 'is about a project file: name it.', 'up --help');
  }
  if (session.url === undefined) return;
  const [option] = serverOptions(options);
  if (option === undefined) return;
  throw new UsageError(`${option} is for a server that up starts, and ${session.url} runs already.`, 'up --help');
}

/** The options that are given about the server to start. */
function serverOptions({ host, port, metricsPort }: UpOptions): string[] {
  return [
    ...(host === undefined ? [] : ['--host']),
    ...(port === undefined ? [] : ['--port']),
    ...(metricsPort === undefined ? [] : ['--metrics-port']),
  ];
}

/** On a server that was asked for by name, which reads nothing of this machine and has a policy of its own. */
async function upThere(session: Session, file: string | undefined, options: UpOptions): Promise<undefined> {
  refuseOverrulingThere(options);
  const source = file === undefined ? undefined : loadForPosting(session, file, options.configRoot);
  const api = await requireApi(session);
  await api.getHealth();
  sayUsing(session, api, file);
  if (source) {
    const create = () => postProject(api, source);
    await runProject(session, api, { source, create, allow: () => Promise.resolve() }, options);
  }
  return undefined;
}

function sayUsing(session: Session, { url }: ApiClient, file: string | undefined): void {
  if (file === undefined)
    sayJson(session, { url, ...(session.url === undefined ? { root: session.root } : {}) }, 'line');
  say(session, `Using the server that runs at ${url}.`);
}

/** A project of this person's own disk, and what that allows it. */
interface OwnProject {
  readonly loaded: LoadedProject;
  readonly following: Following;
}

async function ownProject(session: Session, file: string, options: UpOptions): Promise<OwnProject> {
  const loaded = await loadForUse(session, file, options.configRoot);
  const admitted = admitOwnFile(session, loaded, await admission(session, loaded, options));
  return {
    loaded,
    following: {
      source: readProjectFile(file, { env: session.context.env, configRoot: options.configRoot }),
      create: () => createHere(session, loaded, admitted),
      allow: () => keepGrant(session, loaded, admitted.grant),
    },
  };
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

/** The file of a project that is to be made and followed. */
interface Following {
  /** The file, with the profiles that it names. */
  readonly source: ProjectSource;
  /** @throws SuzumioError `project-exists` */
  readonly create: () => Promise<void>;
  /** Keeps with a project that is there what the file is allowed. */
  readonly allow: () => Promise<void>;
}

/**
 * Makes the project where it is new, starts it where it is not running, and follows it. A project that is there already stays
 * as it is, unless a person says that its file is to be applied.
 *
 * @param until when it is not followed any more @default Ctrl-C
 */
async function runProject(
  session: Session,
  api: ApiClient,
  { source, create, allow }: Following,
  { quiet, apply, until = session.context.interrupted }: Pick<UpOptions, 'quiet' | 'apply'> & { until?: AbortSignal },
): Promise<void> {
  const { config } = source;
  const project = config.name;
  const isNew = await create().then(
    () => true,
    (error: unknown) => {
      if (isSuzumioError(error, 'project-exists')) return false;
      throw error;
    },
  );
  if (!isNew) await offerFile(session, api, { source, isApplied: apply === true, allow });
  const { status, messages } = (await api.getProject({ project })).project;
  if (status === 'initialized' || status === 'stopped') await api.startProject({ project });
  if (isNew || messages === 0) sayNext(session, `send ${project} ${Object.keys(config.agents)[0] ?? ''} P1 "…"`);
  say(session, '');
  await followTimeline(session, api, { project, history: 20, shown: { quiet }, signal: until });
}

async function createHere(session: Session, loaded: LoadedProject, admitted: Admitted): Promise<void> {
  const absent = await requireRepositories(loaded);
  const cell = Cell.open(session.root);
  try {
    await createFrom(cell, loaded, admitted);
    sayGrant(session, loaded, admitted.grant);
    for (const { message } of absent) session.context.err.write(`warning: ${message}\n`);
  } finally {
    await cell.close();
  }
}
