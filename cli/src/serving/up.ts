import { agentVariables, withoutSecretValues } from '@suzumio/core/config/agent-env';
import { configDefaults } from '@suzumio/core/config/defaults';
import type { LoadedProject, ProjectSource } from '@suzumio/core/config/project-source';
import { backendOf, isExternal } from '@suzumio/core/config/sandbox-of';
import { isSuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { oneLine } from '@suzumio/core/prompt/body';
import { Cell } from '@suzumio/store/cell/cell';
import { withoutTaken } from '@suzumio/core/config/local-toolpacks';
import { withVariables } from '@suzumio/store/projects/config-versions';
import { newestVersion } from '@suzumio/store/sqlite/configs';
import {
  type Admitted,
  admission,
  admitOwnFile,
  hostPolicy,
  overrulingOptions,
  type OwnFileOptions,
} from '../host-policy.js';
import { followTimeline } from '../live-timeline.js';
import { warnOfMissingRepositories } from '../missing-repositories.js';
import {
  createFrom,
  loadForPosting,
  loadForUse,
  refuseOverrulingThere,
  postProject,
  sayGrant,
  startsFromProfiles,
} from '../project-file.js';
import { type ApiClient } from '../reach/api-client.js';
import { findApi, requireApi } from '../reach/reach.js';
import { say, sayJson, sayNext, type Session, shellWord } from '../session.js';
import { refuseOptions, UsageError } from '../usage-error.js';
import { accessFor } from './access.js';
import { changedFields } from './changed-fields.js';
import { startStack } from './stack.js';
import { interruption, sayServing, sayStopping, untilEnd } from './serve.js';

/** How many fields are named that a file has changed. */
const mostNamed = 5;

export interface UpOptions extends OwnFileOptions {
  host?: string;
  port?: number;
  metricsPort?: number;
  configRoot?: string;
  quiet?: true;
}

/** Serves, and does everything that a project file needs to be run and followed. */
export async function up(session: Session, file: string | undefined, options: UpOptions): Promise<undefined> {
  refuseIdleOptions(session, file, options);
  if (session.url !== undefined) return upThere(session, file, options);
  const { quiet } = options;
  const policy = hostPolicy(session, options);
  const project = file === undefined ? undefined : await ownProject(session, file, options);
  const running = await findApi(session);
  if (running) {
    sayUsing(session, running, file);
    for (const option of serverOptions(options)) {
      session.context.err.write(`${option} does nothing: the server runs already.\n`);
    }
    if (project)
      await runProject(session, running, project.loaded, { quiet, create: () => createHere(session, project) });
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
      const create = () => createHere(session, project);
      await runProject(session, await requireApi(session), project.loaded, { quiet, create, until });
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
  const { configRoot, quiet } = options;
  if (file === undefined) {
    const aboutFile = {
      '--config-root': configRoot !== undefined,
      ...Object.fromEntries(overrulingOptions({ ...options, allowProcess: false }).map((option) => [option, true])),
      '--quiet': quiet === true,
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
  if (source)
    await runProject(session, api, source, { quiet: options.quiet, create: () => createThere(session, api, source) });
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
  readonly admitted: Admitted;
}

async function ownProject(session: Session, file: string, options: UpOptions): Promise<OwnProject> {
  const loaded = await loadForUse(session, file, options.configRoot);
  return { loaded, admitted: admitOwnFile(session, loaded, await admission(session, loaded, options)) };
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

/** How a project is made and followed. */
interface Following {
  /** Whether calls of tools that succeeded are left out. */
  readonly quiet: boolean | undefined;
  /** Makes it, or says why it stays as it is; whether it made it. */
  readonly create: () => Promise<boolean>;
  /** When it is not followed any more. */
  readonly until?: AbortSignal;
}

/** Makes the project where it is new, starts it where it is not running, and follows it until Ctrl-C. */
async function runProject(
  session: Session,
  api: ApiClient,
  { config }: ProjectSource,
  { quiet, create, until = session.context.interrupted }: Following,
): Promise<void> {
  const project = config.name;
  const isNew = await create();
  const { status, messages } = (await api.getProject({ project })).project;
  if (status === 'initialized' || status === 'stopped') await api.startProject({ project });
  if (isNew || messages === 0) sayNext(session, `send ${project} ${Object.keys(config.agents)[0] ?? ''} P1 "…"`);
  say(session, '');
  await followTimeline(session, api, { project, history: 20, shown: { quiet }, signal: until });
}

async function createHere(session: Session, { loaded, admitted }: OwnProject): Promise<boolean> {
  const cell = Cell.open(session.root);
  try {
    return await createIfNew(
      session,
      loaded,
      async () => {
        await createFrom(cell, loaded, admitted);
        sayGrant(session, loaded, admitted.grant);
        warnOfMissingRepositories(session, loaded.config);
      },
      () =>
        cell.stores.use(loaded.config.name, (store) => {
          const { reader } = store;
          return changedFields(withoutTaken(withVariables(reader, store, newestVersion(reader))), loaded.config);
        }),
    );
  } finally {
    await cell.close();
  }
}

async function createThere(session: Session, api: ApiClient, source: ProjectSource): Promise<boolean> {
  const { config } = source;
  const made = await createIfNew(
    session,
    source,
    () => postProject(api, source),
    // What a profile brings is known there alone: with one, there is nothing to compare.
    async () =>
      startsFromProfiles(source)
        ? []
        : changedFields(await api.getResolvedConfig({ project: config.name }), withoutSecretValues(config)),
  );
  if (!made && agentVariables(config).length > 0) {
    say(
      session,
      `${config.name} keeps the values of env that it has: those of a server elsewhere are shown to nobody, so whether they have changed is not known here.`,
    );
  }
  return made;
}

/**
 * A project that is there already stays as it is, even where its file has changed.
 *
 * @param changed the fields in which the file differs from the version that is in force
 */
async function createIfNew(
  session: Session,
  { config: { name }, files: [file = 'FILE'] }: ProjectSource,
  create: () => Promise<void>,
  changed: () => Promise<string[]>,
): Promise<boolean> {
  try {
    await create();
    return true;
  } catch (error) {
    if (!isSuzumioError(error, 'project-exists')) throw error;
    const fields = await changed();
    if (fields.length > 0) {
      const named = fields.length > mostNamed ? [...fields.slice(0, mostNamed), 'and others'] : fields;
      say(
        session,
        `${name} has another version of this file, or of a profile in it, and stays as it is until this one is applied.`,
        `What differs: ${oneLine(named.join(', '))}.`,
        `To apply it: ${session.suzumio} config apply ${name} ${shellWord(file)}`,
      );
    }
    return false;
  }
}
