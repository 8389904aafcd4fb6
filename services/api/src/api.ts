import { PackInspector } from '@suzumio/control-plane/packs/pack-inspector';
import { isSuzumioError, SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { type HttpServer, startHttpServer } from '@suzumio/runtime/http/http-server';
import { isLoopback } from '@suzumio/runtime/http/request-source';
import type { BodyPace } from '@suzumio/runtime/http/slow-bodies';
import { hostPaths } from '@suzumio/runtime/disk/this-host';
import { writableByGrants } from '@suzumio/store/cell/grants';
import { defaultPolicy, type Policy } from '@suzumio/core/policy/policy';
import type { BrokenProject } from '@suzumio/store/cell/delete-project';
import { apiApp, type ApiGuards } from './app.js';
import type { ApiDependencies } from './context.js';
import { ToolHosts } from './live/toolhosts.js';
import { installedExamples } from './installed-examples.js';
import { EventHub, type EventHubOptions } from './events/event-hub.js';

export interface ApiConfig extends ApiGuards {
  /** 0 takes any free port. */
  port: number;
  /** The transport of this cell's jobs, as recorded in the catalog. */
  transportName: string;
  /** The administrator's secret. @default the data directory's own */
  adminToken?: string;
  bodyPace?: BodyPace;
  /** The policy for posted project files. @default the safe defaults */
  policy?: Policy;
  /** The budget of all projects for a day, in dollars: the ToolHost enforces it, this shows it. */
  budgetUsdPerDay?: number | undefined;
  /** The directory with the examples, with its links resolved. @default those of this installation */
  examples?: string;
  events?: EventHubOptions;
  /** The ToolHosts' addresses for workers, at which running turns are followed. @default none */
  toolhostUrls?: () => readonly string[];
}

export interface Api {
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Its address, once started. */
  readonly url: string;
}

/** The HTTP API for people and programs. Stateless: any number may run. */
export function createApi(config: ApiConfig, dependencies: ApiDependencies): Api {
  let running: { server: HttpServer; hub: EventHub; packs: PackInspector; delist: () => Promise<void> } | undefined;

  async function start(): Promise<void> {
    const { cell } = dependencies;
    if (config.auth === 'off') allowEverybody(config.host, dependencies);
    const delist = await cell.catalog.processes.enlist({
      service: 'api',
      cell: cell.id,
      transport: config.transportName,
    });
    const hub = new EventHub(dependencies, config.events);
    try {
      tellBroken(await cell.recover(), dependencies);
      await admitAdmin(config.adminToken ?? cell.directory.adminToken(), dependencies);
      const policy = config.policy ?? defaultPolicy;
      const host = hostPaths([cell.directory.root], {
        mounting: false,
        writable: () => writableByGrants(cell.directory),
      });
      const { budgetUsdPerDay, publicUrl, toolhostUrls } = config;
      const toolhosts = toolhostUrls && new ToolHosts(toolhostUrls, cell.directory.serviceToken());
      const publicPath = publicUrl === undefined ? '' : new URL(publicUrl).pathname.replace(/\/$/, '');
      const { examples = installedExamples() } = config;
      const packs = new PackInspector();
      const context = { ...dependencies, policy, host, budgetUsdPerDay, publicPath, examples, packs, toolhosts };
      const app = apiApp(context, hub, config);
      running = { server: await startHttpServer(app, config), hub, packs, delist };
    } catch (error) {
      await hub.close();
      await delist();
      throw error;
    }
  }

  async function stop(): Promise<void> {
    if (!running) return;
    const { server, hub, packs, delist } = running;
    running = undefined;
    await Promise.all([server.stop(), hub.close(), packs.close()]);
    await delist();
  }

  return {
    start,
    stop,
    get url() {
      if (!running) throw new Error('the API has not been started');
      return running.server.url;
    },
  };
}

/** Logs broken projects; each is left as it is, and the others are served. */
function tellBroken(projects: readonly BrokenProject[], { logger }: ApiDependencies): void {
  for (const { project, error } of projects) {
    const code = isSuzumioError(error) ? error.code : 'internal';
    logger.error({ err: error, code, project }, 'a project could not be recovered');
  }
}

/** Accepts the administrator's secret, unless it was revoked. */
async function admitAdmin(secret: string, { cell, logger }: ApiDependencies): Promise<void> {
  if (await cell.catalog.tokens.admit('admin', secret)) return;
  logger.warn(
    'the token "admin" was revoked: make another one in the data directory (suzumio tokens create NAME --scope admin)',
  );
}

/** @throws SuzumioError `settings-invalid` where other machines could reach it */
function allowEverybody(host: string, { logger }: ApiDependencies): void {
  if (!isLoopback(host)) {
    throw new SuzumioError(
      'settings-invalid',
      `Without tokens (SUZUMIO_AUTH=off) the API listens on loopback only, not on ${host}: set SUZUMIO_AUTH=on, or SUZUMIO_HOST=127.0.0.1.`,
    );
  }
  logger.warn('SUZUMIO_AUTH is off: everybody and every program on this machine may do everything, without a token');
}
