import type { WorkerView, service } from '@suzumio/contract/operations/service';
import type { WorkerPresence } from '@suzumio/protocol/worker-presence';
import { openApiDocument } from '../openapi/document.js';
import { descriptionPage } from '../openapi/page.js';
import type { Runs } from '../routes.js';
import { version } from '../version.js';
import { namedListAnswer } from './list-answer.js';

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
  const described = openApiDocument(version);
  const description = publicUrl === undefined ? described : { ...described, servers: [{ url: publicUrl }] };
  const page = descriptionPage(description);
  return {
    /** Workers that serve other cells alone are only counted. */
    async listWorkers({ context: { cell, transport }, query: { limit, after = '' } }) {
      const fleet = await transport.fleet();
      const own = fleet.filter(({ cells }) => cells?.includes(cell.id) ?? true);
      const listed = own
        .filter(({ worker }) => worker > after)
        .sort((one, other) => (one.worker < other.worker ? -1 : 1))
        .map(viewOf);
      return { ...namedListAnswer(listed, limit, ({ worker }) => worker), elsewhere: fleet.length - own.length };
    },

    getHealth: () => ({ status: 'ok', version, access: open ? 'open' : 'tokens' }),

    getDescription: () => ({ ...description }),

    getDescriptionPage({ response }) {
      response
        .set('content-security-policy', page.contentSecurityPolicy)
        .type('text/html; charset=utf-8')
        .send(page.html);
    },
  };
}

function viewOf({ worker, slots, state, problem, backends, images }: WorkerPresence): WorkerView {
  return {
    worker,
    state: state ?? null,
    problem: problem ?? null,
    slots,
    backends: backends ?? null,
    images: images ?? null,
  };
}
