import { subscribe } from 'node:diagnostics_channel';
import type { ClientRequest, IncomingMessage } from 'node:http';
import {
  type BullMqTransportOptions,
  createBullMqTransport as createTransport,
} from '@suzumio/shared/queue/bullmq-transport';
import type { Transport } from '@suzumio/shared/queue/transport';
import { openMarks } from './marks.js';

/**
 * The services' own transport, with a mark for what passes it and for each claim over HTTP.
 *
 * @public by way of `hooks.mjs`
 */
export function createBullMqTransport(options: BullMqTransportOptions): Transport {
  const transport = createTransport(options);
  const mark = openMarks(process.env['BENCH_MARKS'] ?? '.');
  subscribe('http.server.request.start', (message) => {
    if ((message as { request: IncomingMessage }).request.url?.endsWith('/claim')) mark('claim received');
  });
  subscribe('http.client.response.finish', (message) => {
    if ((message as { request: ClientRequest }).request.path.endsWith('/claim')) mark('claim answered');
  });
  return {
    ...transport,
    wake(project) {
      mark('wake sent');
      transport.wake(project);
    },
    hint(hint) {
      mark('events committed');
      transport.hint(hint);
    },
    consumeWakes: (handler) =>
      transport.consumeWakes((project) => {
        mark('wake handled');
        return handler(project);
      }),
    addTurnJob(job) {
      mark('turn queued');
      return transport.addTurnJob(job);
    },
    consumeTurns: (consumer, handler) =>
      transport.consumeTurns(consumer, (job) => {
        mark('job delivered');
        return handler(job);
      }),
  };
}
