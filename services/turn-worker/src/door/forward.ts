import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { HttpRequest } from '@suzumio/protocol/http-client';
import { purposeHeader, stepHeader, uncapturedHeader } from '@suzumio/protocol/model-chat';
import type { KeptConnections } from '../toolhost/kept-connections.js';
import type { SandboxSteps } from './sandbox-steps.js';

export interface ForwardOptions extends Pick<KeptConnections, 'exchange'> {
  runnerUrl: string;
  steps: Pick<SandboxSteps, 'pass'>;
  /** Whether the request names no step. */
  unnamed: boolean;
  maxBytes: number;
  /** Sent instead of the request's own body. */
  body?: Buffer | undefined;
  /** The request's own body, if its beginning was read already. */
  source?: Readable | undefined;
}

/** The longest time without traffic: a model may think for a while. */
const silenceMs = 900_000;
const requestHeaders = [
  'authorization',
  'content-type',
  'content-length',
  'accept',
  stepHeader,
  purposeHeader,
] as const;
const answerHeaders = ['content-type', 'content-length', 'retry-after'] as const;

/**
 * Forwards one request, streaming both ways, with only the headers that the routes need. When the client disconnects,
 * the request is aborted.
 *
 * @throws RangeError when the body is longer than `maxBytes`; what `steps` throws
 */
export async function forward(
  request: IncomingMessage,
  response: ServerResponse,
  { runnerUrl, exchange, steps, unnamed, maxBytes, body, source = request }: ForwardOptions,
): Promise<void> {
  const gone = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) gone.abort(new Error('the asking side went away'));
  });
  const send = (uncaptured?: string) =>
    exchange({
      method: request.method as HttpRequest['method'],
      url: runnerUrl.replace(/\/+$/, '') + (request.url ?? ''),
      headers: {
        ...only(requestHeaders, (name) => request.headers[name]?.toString()),
        ...(uncaptured === undefined ? {} : { [uncapturedHeader]: encodeURIComponent(uncaptured) }),
      },
      body: body ?? { stream: () => bounded(source, maxBytes) },
      timeoutMs: silenceMs,
      signal: gone.signal,
    });
  const answer = await steps.pass(request.url ?? '', send, { unnamed, gone: gone.signal });
  // Those of `writeHead` alone could not be read any more.
  response.setHeaders(new Map(Object.entries(only(answerHeaders, answer.header)))).writeHead(answer.status);
  await pipeline(answer.body, response);
}

/** Passes chunks through, and fails with a RangeError beyond `maxBytes`. */
async function* bounded(source: Readable, maxBytes: number): AsyncGenerator<Buffer> {
  let sizeBytes = 0;
  for await (const chunk of source as AsyncIterable<Buffer>) {
    sizeBytes += chunk.length;
    if (sizeBytes > maxBytes) throw new RangeError(`a body of more than ${maxBytes} bytes`);
    yield chunk;
  }
}

function only(names: readonly string[], valueOf: (name: string) => string | undefined): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = valueOf(name);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
