import { type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http';
import type { Readable } from 'node:stream';
import { maxToolBodyBytes } from '@suzumio/protocol/door';
import { messageOf, TurnFailure } from '../turn-failure.js';
import type { Connector } from './connector.js';

/** One HTTP request through the door. */
export interface DoorRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: OutgoingHttpHeaders;
  /** Called once for each time that the request is sent. */
  readonly body: () => Buffer | Readable;
}

/** A whole answer of the door. */
export interface DoorAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly body: Buffer;
}

/** The connection broke, or could not be made, before the answer was whole. Sending again may help. */
export class ConnectionLost extends Error {
  override readonly name = 'ConnectionLost';
}

/** Sends `message` once, on a connection of its own. Throws {@link ConnectionLost}, a {@link TurnFailure}, or what reading the body threw. */
export async function exchange(connector: Connector, message: DoorRequest): Promise<DoorAnswer> {
  return wholeAnswer(await respond(connector, message), message);
}

/** Reads an answer to its end. */
export async function wholeAnswer(response: IncomingMessage, message: DoorRequest): Promise<DoorAnswer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of bodyOf(response)) {
    size += chunk.length;
    if (size > maxToolBodyBytes)
      throw new TurnFailure(`the answer to ${message.method} ${message.path} is over ${maxToolBodyBytes} bytes`);
    chunks.push(chunk);
  }
  return {
    status: response.statusCode ?? 0,
    contentType: response.headers['content-type'] ?? '',
    body: Buffer.concat(chunks),
  };
}

/** Sends a request on a connection of its own; the answer's body is the caller's to read. */
export function respond(connector: Connector, message: DoorRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    // Kept alive and closed by us: where the server closed first, the end of our body could hit a closed connection.
    const connection = connector.open();
    const outgoing = request({
      createConnection: () => connection,
      method: message.method,
      path: connector.basePath + message.path,
      headers: { ...message.headers, host: connector.host, connection: 'keep-alive' },
    });
    const body = message.body();
    outgoing.on('error', (error) => reject(lost(error)));
    outgoing.on('response', (response) => {
      // An answer may come before the whole body was sent; the rest is of no interest then.
      if (!Buffer.isBuffer(body)) body.unpipe(outgoing);
      // Not the request: it has let go of the connection by then, when the answer came whole.
      response.on('close', () => connection.destroy());
      resolve(response);
    });
    if (Buffer.isBuffer(body)) {
      outgoing.end(body);
      return;
    }
    body.on('error', (error) => {
      reject(error);
      outgoing.destroy();
    });
    // A server that refuses by the headers alone does so before the body is on its way.
    if (message.headers.expect === undefined) body.pipe(outgoing);
    else outgoing.on('continue', () => body.pipe(outgoing));
    outgoing.flushHeaders();
  });
}

/** An answer's bytes; where they end too early, with a {@link ConnectionLost}. */
export async function* bodyOf(response: IncomingMessage): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) yield chunk;
  } catch (error) {
    throw lost(error);
  }
}

function lost(error: unknown): ConnectionLost {
  return new ConnectionLost(messageOf(error), { cause: error });
}
