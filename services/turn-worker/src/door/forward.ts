import {
  type Agent,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  request as httpRequest,
  type ServerResponse,
} from 'node:http';
import { request as httpsRequest } from 'node:https';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { purposeHeader, stepHeader } from '@suzumio/protocol/model-chat';

export interface ForwardOptions {
  runnerUrl: string;
  agent: Agent;
  maxBytes: number;
  /** Sent instead of the request's own body. */
  body?: Buffer | undefined;
  /** The request's own body, where its beginning was read already. */
  source?: Readable | undefined;
}

/** The longest wait for anything to move: a model may think for a while. */
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
 * Passes one request on, streaming both ways; only the headers that the routes need cross. When the asking side goes
 * away, so does the request.
 *
 * @throws RangeError when the body is longer than `maxBytes`
 */
export async function forward(
  request: IncomingMessage,
  response: ServerResponse,
  options: ForwardOptions,
): Promise<void> {
  const url = new URL(
    `.${request.url ?? ''}`,
    options.runnerUrl.endsWith('/') ? options.runnerUrl : `${options.runnerUrl}/`,
  );
  const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
  const onward = send(url, {
    method: request.method ?? 'GET',
    agent: options.agent,
    timeout: silenceMs,
    headers: {
      ...only(request.headers, requestHeaders),
      ...(options.body === undefined ? {} : { 'content-length': options.body.length }),
    },
  });
  onward.once('timeout', () => onward.destroy(new Error(`nothing moved for ${silenceMs} ms`)));
  response.once('close', () => {
    if (!response.writableFinished) onward.destroy(new Error('the asking side went away'));
  });
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    onward.once('response', resolve);
    onward.once('error', reject);
  });
  // An answer may come before the body has been taken, and is the better explanation of its end.
  const sent =
    options.body === undefined
      ? pipeline(options.source ?? request, bounded(options.maxBytes), onward)
      : pipeline(Readable.from([options.body]), onward);
  const answer = await Promise.race([answered, sent.then(() => answered)]).catch(async (error: unknown) => {
    onward.destroy();
    await answered.catch(() => undefined);
    throw error;
  });
  response.writeHead(answer.statusCode ?? 502, only(answer.headers, answerHeaders));
  await Promise.all([pipeline(answer, response), sent.catch(() => undefined)]);
}

/** Passes what comes on, and fails with a RangeError beyond `maxBytes`. */
function bounded(maxBytes: number): Transform {
  let sizeBytes = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      sizeBytes += chunk.length;
      if (sizeBytes > maxBytes) done(new RangeError(`a body of more than ${maxBytes} bytes`));
      else done(null, chunk);
    },
  });
}

function only(headers: IncomingMessage['headers'], names: readonly string[]): OutgoingHttpHeaders {
  return Object.fromEntries(names.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]]])));
}
