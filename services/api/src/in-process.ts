import { PackInspector } from '@suzumio/control-plane/packs/pack-inspector';
import { defaultPolicy } from '@suzumio/core/policy/policy';
import type { Operations } from '@suzumio/contract/operations/operations';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { defaultStorageLimits, type StorageLimits } from '@suzumio/contract/model/storage';
import type { OwnApi } from '@suzumio/contract/client/make-client';
import { hostPaths } from '@suzumio/runtime/disk/this-host';
import type { ApiIdentity } from '@suzumio/store/cell/api-tokens';
import { Cell } from '@suzumio/store/cell/cell';
import type { StoreContext } from '@suzumio/store/sqlite/context';
import type { FreeSpace } from '@suzumio/protocol/disk-blocks';
import { apiApp } from './app.js';
import type { ApiContext, ApiDependencies } from './context.js';
import { EventHub } from './events/event-hub.js';
import { exchangeWith, inProcessUrl } from './in-process-exchange.js';
import { installedExamples } from './installed-examples.js';
import { operationFor } from './operations-at.js';

export interface InProcessOptions {
  /** The data directory. */
  readonly root: string;
  readonly context: StoreContext;
  /** What may be stored there. */
  readonly storage: StorageLimits;
  /** How much of the disk is free. */
  readonly free: (path: string) => FreeSpace;
  /** What all projects together may spend on models in a day, in dollars. */
  readonly budgetUsdPerDay: number | undefined;
}

/** The API of a data directory, answered in this process. */
export interface InProcessApi extends OwnApi {
  /** Closes its databases. */
  readonly close: () => Promise<void>;
}

/** Changes of the catalogue, which the owner of a data directory needs no server for. Running services see them at once. */
const kept: ReadonlySet<string> = new Set<keyof Operations>([
  'createToken',
  'revokeToken',
  'endSession',
  'endSessions',
  'createProfile',
  'updateProfile',
  'retireProfile',
  'addProfileNote',
  'editProfileNote',
  'forgetProfileNote',
  'createTeam',
  'updateTeam',
  'deleteTeam',
]);

/** File permissions are the access control here. */
const owner: ApiIdentity = {
  tokenId: null,
  sessionId: null,
  name: 'user',
  scope: 'admin',
  project: null,
  agents: null,
};

/**
 * The API of a data directory that no server has to serve. The directory is opened by the first request, for reading:
 * nothing is created or migrated. Changes of the catalogue open that for writing. Every other change is refused with
 * `server-unreachable`.
 */
export function apiInProcess(options: InProcessOptions): InProcessApi {
  const open = new Map<boolean, InProcessApi>();
  const opened = (keeping: boolean): InProcessApi => {
    const there = open.get(keeping) ?? openApp(options, keeping);
    open.set(keeping, there);
    return there;
  };
  return {
    url: inProcessUrl,
    async exchange(request) {
      const operation = operationFor(request.method, new URL(request.url).pathname);
      if (operation === undefined || operation.method === 'get') return opened(false).exchange(request);
      if (kept.has(operation.id)) return opened(true).exchange(request);
      throw unserved(options.root);
    },
    async close() {
      for (const { close } of open.values()) await close();
    },
  };
}

/** @param keeping whether the catalogue is opened for writing */
function openApp(options: InProcessOptions, keeping: boolean): InProcessApi {
  const { root, context, storage, free } = options;
  const bounds = keeping
    ? { storage: defaultStorageLimits, free: () => ({ bytes: Infinity, files: Infinity }) }
    : { storage, free };
  const cell = Cell.openForReading(root, { context, keeping, ...bounds });
  const dependencies: ApiDependencies = { cell, ...noServices(root) };
  const apiContext: ApiContext = {
    ...dependencies,
    policy: defaultPolicy,
    host: hostPaths([], { mounting: false }),
    publicPath: '',
    examples: installedExamples(),
    packs: new PackInspector(),
    unserved: true,
    get budgetUsdPerDay() {
      return options.budgetUsdPerDay;
    },
  };
  const hub = new EventHub(dependencies);
  const app = apiApp(apiContext, hub, {
    host: 'localhost',
    rateLimits: { readsPerSecond: 0, writesPerSecond: 0, failuresPerSecond: 0, burstSeconds: 0 },
    withoutToken: owner,
    onError: (error: unknown, request, _response, _next) => fail(request, error),
  });
  const { exchange, fail } = exchangeWith(app);
  return {
    url: inProcessUrl,
    exchange,
    async close() {
      await hub.close();
      await cell.close();
    },
  };
}

/** No queue, no log, no metrics. */
function noServices(root: string): Omit<ApiDependencies, 'cell'> {
  const nothing = () => undefined;
  const refuse = () => Promise.reject(unserved(root));
  return {
    transport: {
      kind: 'memory',
      healthy: () => Promise.resolve(false),
      wake: nothing,
      hint: nothing,
      onHint: () => nothing,
      fleet: refuse,
      lostWorkers: refuse,
      turnJobs: refuse,
      turnJobsAhead: refuse,
      addRepositoryDiff: refuse,
    },
    logger: { debug: nothing, info: nothing, warn: nothing, error: nothing },
    metrics: {
      mailAccepted: { inc: nothing },
      requestsRefused: { inc: nothing },
      sseClients: { set: nothing, inc: nothing, dec: nothing },
    },
  };
}

function unserved(root: string): SuzumioError {
  return new SuzumioError('server-unreachable', `No Suzumio server is running for ${root}.`);
}
