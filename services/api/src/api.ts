import { type HttpServer, startHttpServer } from '@suzumio/shared/http/http-server';
import { hostPaths } from '@suzumio/shared/policy/host-paths';
import { defaultPolicy, type Policy } from '@suzumio/shared/policy/policy';
import { apiApp } from './app.js';
import type { ApiDependencies } from './context.js';
import { EventHub, type EventHubOptions } from './events/event-hub.js';

export interface ApiConfig {
  host: string;
  /** 0 takes any free port. */
  port: number;
  /** What carries this cell's jobs, as the catalog records it. */
  transportName: string;
  /** Host names, besides those of loopback and `host`, that requests may be addressed to. */
  allowedHosts?: readonly string[];
  /** What posted files may ask of a host. @default the safe defaults */
  policy?: Policy;
  events?: EventHubOptions;
}

export interface Api {
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Where it is reached, once started. */
  readonly url: string;
}

/** The HTTP API: what people and programs do to projects and read of them. Stateless; run as many as you like. */
export function createApi(config: ApiConfig, dependencies: ApiDependencies): Api {
  let running: { server: HttpServer; hub: EventHub; delist: () => Promise<void> } | undefined;

  async function start(): Promise<void> {
    const { cell } = dependencies;
    const delist = await cell.catalog.enlist({ service: 'api', cell: cell.id, transport: config.transportName });
    const hub = new EventHub(dependencies, config.events);
    try {
      await cell.recover();
      await admitAdmin(dependencies);
      const policy = config.policy ?? defaultPolicy;
      const host = hostPaths([cell.directory.root], { mounting: false });
      const hosts = [config.host, ...(config.allowedHosts ?? [])];
      const app = apiApp({ ...dependencies, policy, host }, hub, hosts);
      running = { server: await startHttpServer(app, config), hub, delist };
    } catch (error) {
      await hub.close();
      await delist();
      throw error;
    }
  }

  async function stop(): Promise<void> {
    if (!running) return;
    const { server, hub, delist } = running;
    running = undefined;
    await Promise.all([server.stop(), hub.close()]);
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

/** Whoever may read the data directory is an administrator: the token in it opens the API. */
async function admitAdmin({ cell: { catalog, directory } }: ApiDependencies): Promise<void> {
  const secret = directory.adminToken();
  if (!catalog.identify(secret)) await catalog.addToken({ name: 'admin', scope: 'admin', secret });
}
