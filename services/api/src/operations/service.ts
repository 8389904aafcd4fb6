import type { service } from '@suzumio/contract/operations/service';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { policyWithoutSecrets } from '@suzumio/core/policy/policy-without-secrets';
import { asSeenBy } from '@suzumio/protocol/worker-presence';
import type { Runs } from '../routes.js';
import { QueueHealth } from './queue-health.js';
import { systemRun } from './system.js';
import { lostWorkerViews, workerViewOf } from './worker-view.js';
import { version } from '@suzumio/runtime/version';
import { partOfNames } from '@suzumio/store/sqlite/page';

/**
 * The operations on the server itself and on the fleet of workers.
 *
 * @param open whether requests need no token
 * @param publicUrl the server's public address, without a trailing slash. @default the requested address
 */
export function serviceRuns({
  open,
  publicUrl,
}: {
  open: boolean;
  publicUrl?: string | undefined;
}): Runs<typeof service> {
  let made: ReturnType<typeof describe> | undefined;
  const queue = new QueueHealth();
  return {
    /** Workers that serve other cells alone are only counted. */
    async listWorkers({ context: { cell, transport }, query }) {
      const [fleet, lost] = await Promise.all([transport.fleet(), transport.lostWorkers()]);
      const own = fleet.flatMap((worker) => asSeenBy(cell.id, worker) ?? []);
      const views = [...own.map(workerViewOf), ...lostWorkerViews(cell.id, lost, cell.context.now())];
      const listed = views.sort((one, other) => (one.worker < other.worker ? -1 : 1));
      return { ...partOfNames(listed, query, ({ worker }) => worker), elsewhere: fleet.length - own.length };
    },

    getSystem: systemRun(),

    getPolicy({ context: { policy, unserved } }) {
      if (unserved) throw new SuzumioError('server-unreachable', 'A policy is that of a server, and none runs here.');
      return { policy: policyWithoutSecrets(policy) };
    },

    getHealth: async ({ context }) => ({
      status: 'ok',
      version,
      access: open ? 'open' : 'tokens',
      queue: await queue.ask(context.transport),
    }),

    async getDescription() {
      made ??= describe(publicUrl);
      return { ...(await made) };
    },
  };
}

/** Made when it is first asked for: it takes time, and most processes are never asked. */
async function describe(publicUrl: string | undefined) {
  const { openApiDocument } = await import('../openapi/document.js');
  const described = openApiDocument(version);
  return publicUrl === undefined ? described : { ...described, servers: [{ url: publicUrl }] };
}
