import { subscribe } from 'node:diagnostics_channel';
import type { ClientRequest, IncomingMessage } from 'node:http';
import {
  type BullMqTransportOptions,
  createBullMqTransport as createTransport,
} from '@suzumio/runtime/queue/bullmq-transport';
import type { Transport } from '@suzumio/runtime/queue/transport';
import { clockMs, openMarks } from './marks.js';

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
  const begunMs = new WeakMap<ClientRequest, number>();
  subscribe('http.client.request.start', (message) => {
    begunMs.set((message as { request: ClientRequest }).request, clockMs());
  });
  /** A heartbeat that fails took as long as its worker waited for it. */
  const ended = (message: unknown) => {
    const { request } = message as { request: ClientRequest };
    if (request.path.endsWith('/claim')) mark('claim answered');
    if (request.path.endsWith('/heartbeat')) mark(`heartbeat ${clockMs() - (begunMs.get(request) ?? Number.NaN)}`);
  };
  subscribe('http.client.response.finish', ended);
  subscribe('http.client.request.error', ended);
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
