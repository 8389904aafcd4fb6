import { type Agent, type IncomingMessage, request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { buffer } from 'node:stream/consumers';
import { problem } from '@suzumio/protocol/problem';
import { keepAliveAgent } from './keep-alive-agent.js';
import { ToolHostRefusal, ToolHostUnavailable } from './toolhost-errors.js';

/** One request. */
export interface HttpCall {
  method: 'GET' | 'HEAD' | 'PUT' | 'POST';
  path: string;
  token: string;
  /** Sent as JSON. */
  json?: unknown;
  /** Sent as it is. */
  content?: { bytes: Buffer } | { stream: () => Readable; sizeBytes: number };
  /** The longest time without anything moving. */
  timeoutMs: number;
  signal?: AbortSignal | undefined;
}

const maxAnswerBytes = 64 * 1024 * 1024;

/** Requests to one server over kept connections. What is not a 2xx is thrown, by whether repeating it may help. */
export class HttpClient {
  readonly #base: URL;
  readonly #agent: Agent;

  constructor(url: string) {
    this.#base = new URL(url.endsWith('/') ? url : `${url}/`);
    this.#agent = keepAliveAgent(url);
  }

  /** Sends and takes the whole answer. */
  async send(call: HttpCall): Promise<{ status: number; body: Buffer }> {
    const response = await this.open(call);
    try {
      return { status: response.statusCode ?? 0, body: await boundedBuffer(response) };
    } catch (error) {
      throw new ToolHostUnavailable(`The answer of ${call.method} ${call.path} broke off.`, { cause: error });
    }
  }

  /** Sends and hands out the answer's body as a stream, which the caller reads to its end or destroys. */
  async open(call: HttpCall): Promise<IncomingMessage> {
    const response = await this.#exchange(call).catch((error: unknown) => {
      throw new ToolHostUnavailable(`${call.method} ${call.path} got no answer.`, { cause: error });
    });
    const status = response.statusCode ?? 0;
    if (status >= 200 && status < 300) return response;
    const body = await boundedBuffer(response).catch(() => Buffer.alloc(0));
    // 408: the server gave up waiting for the body, as after a pause of this process.
    // 507 of a file: there is no room for it, and there will be none at once.
    const noRoom = status === 507 && call.method === 'PUT';
    if ((status >= 500 && !noRoom) || status === 408)
      throw new ToolHostUnavailable(`${call.method} ${call.path} was answered ${status}.`);
    throw refusal(status, body, call);
  }

  close(): void {
    this.#agent.destroy();
  }

  #exchange(call: HttpCall): Promise<IncomingMessage> {
    const url = new URL(call.path, this.#base);
    const request = url.protocol === 'https:' ? httpsRequest : httpRequest;
    const json = call.json === undefined ? undefined : Buffer.from(JSON.stringify(call.json));
    const content = json ? { bytes: json } : call.content;
    const sizeBytes = content === undefined ? 0 : 'bytes' in content ? content.bytes.length : content.sizeBytes;
    return new Promise((resolve, reject) => {
      const sending = request(url, {
        method: call.method,
        agent: this.#agent,
        timeout: call.timeoutMs,
        ...(call.signal ? { signal: call.signal } : {}),
        headers: {
          authorization: `Bearer ${call.token}`,
          ...(content ? { 'content-length': sizeBytes } : {}),
          ...(content ? { 'content-type': json ? 'application/json' : 'application/octet-stream' } : {}),
        },
      });
      sending.once('timeout', () => sending.destroy(new Error(`nothing moved for ${call.timeoutMs} ms`)));
      sending.once('response', resolve);
      sending.once('error', reject);
      if (content === undefined) sending.end();
      else if ('bytes' in content) sending.end(content.bytes);
      else pipeline(content.stream(), sending).catch(reject);
    });
  }
}

async function boundedBuffer(response: IncomingMessage): Promise<Buffer> {
  let sizeBytes = 0;
  response.on('data', (chunk: Buffer) => {
    sizeBytes += chunk.length;
    if (sizeBytes > maxAnswerBytes) response.destroy(new Error(`an answer of more than ${maxAnswerBytes} bytes`));
  });
  return buffer(response);
}

function refusal(status: number, body: Buffer, call: HttpCall): ToolHostRefusal {
  try {
    const { code, detail } = problem.parse(JSON.parse(body.toString('utf8')));
    return new ToolHostRefusal(status, code, detail);
  } catch {
    return new ToolHostRefusal(status, 'unknown', `${call.method} ${call.path} was answered ${status}.`);
  }
}
