import { Agent as HttpAgent, type IncomingMessage, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Exchange } from '@suzumio/protocol/http-client';
import { unavailable } from '@suzumio/protocol/http-failures';

/** A body that is sent as a stream. */
export interface StreamedBody {
  /** Called once for each time that the request is sent. */
  readonly stream: () => Readable | AsyncIterable<Uint8Array>;
  /** Its length, if it is known. */
  readonly sizeBytes?: number | undefined;
}

/** Kept-alive connections to one server: as many as there are requests under way, which those who send them bound. */
export interface KeptConnections {
  /** `timeoutMs` limits the time without traffic. */
  readonly exchange: Exchange<Buffer | StreamedBody>;
  close(): void;
}

export function keepConnections(url: string): KeptConnections {
  const options = { keepAlive: true, maxFreeSockets: 32 };
  const secure = new URL(url).protocol === 'https:';
  const agent = secure ? new HttpsAgent(options) : new HttpAgent(options);
  const request = secure ? httpsRequest : httpRequest;

  const exchange: KeptConnections['exchange'] = async ({ method, url: target, headers, body, timeoutMs, signal }) => {
    const content = typeof body === 'string' ? Buffer.from(body) : body;
    const sizeBytes = Buffer.isBuffer(content) ? content.length : content?.sizeBytes;
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const sending = request(target, {
        method,
        agent,
        headers: { ...headers, ...(sizeBytes === undefined ? {} : { 'content-length': sizeBytes }) },
        ...(timeoutMs === undefined ? {} : { timeout: timeoutMs }),
        ...(signal === undefined ? {} : { signal }),
      });
      sending.once('timeout', () => sending.destroy(new Error(`nothing moved for ${String(timeoutMs)} ms`)));
      sending.once('response', resolve);
      sending.once('error', (error) => reject(unavailable(error)));
      if (content === undefined || Buffer.isBuffer(content)) sending.end(content);
      else pipeline(readable(content.stream(), reject), sending).catch((error: unknown) => reject(unavailable(error)));
    });
    return {
      status: answer.statusCode ?? 0,
      header: (name) => answer.headers[name]?.toString(),
      body: answer,
      discard: () => void answer.destroy(),
    };
  };
  return { exchange, close: () => agent.destroy() };
}

/** Reports a body that cannot be read, before the connection fails for it. */
async function* readable(
  body: Readable | AsyncIterable<Uint8Array>,
  onFailure: (error: unknown) => void,
): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of body as AsyncIterable<Uint8Array>) yield chunk;
  } catch (error) {
    onFailure(error);
    throw error;
  }
}
