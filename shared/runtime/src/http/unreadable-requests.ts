import type { Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { toProblem } from '@suzumio/contract/errors/problem';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { problemMediaType } from '@suzumio/protocol/problem';
import { tooManyChunks } from './body-chunks.js';
import { LastAnswers, type LastAnswersBounds } from './last-answers.js';

const lingerMs = 1_000;

/**
 * Makes a server refuse malformed HTTP like everything else: with a problem document. Earlier requests on the
 * connection are answered first; where such an answer has no known end, the connection is closed without a message.
 */
export function refuseUnreadable(server: Server, bounds?: LastAnswersBounds): void {
  const lastAnswers = new LastAnswers(server, bounds);
  // `Expect` values other than `100-continue` are ignored.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  // This server is no proxy.
  server.on('connect', (_request, socket) => {
    socket.on('drain', () => lastAnswers.resume(socket));
    refuse(socket, new SuzumioError('method-not-allowed', 'This server is no proxy: CONNECT leads nowhere.'));
  });
  server.on('clientError', (error: NodeJS.ErrnoException & { rawPacket?: Buffer }, socket) => {
    // Each chunk after the malformed one is an error of its own.
    lastAnswers.ignore(socket, error.rawPacket?.length ?? 0);
    refuse(socket, reasonFor(error.code));
  });

  function refuse(socket: Duplex, reason: SuzumioError): void {
    const isAwaited = (response: ServerResponse) => response.headersSent || response.req.complete;
    lastAnswers.end(socket, isAwaited, () => end(socket, reason));
  }
}

/** Answers a request with invalid headers, and closes its connection. */
export function refuseRequest(response: ServerResponse, error: unknown): void {
  const problem = toProblem(error);
  const body = JSON.stringify(problem);
  const length = String(Buffer.byteLength(body));
  response.writeHead(problem.status, {
    'content-type': problemMediaType,
    'content-length': length,
    connection: 'close',
  });
  response.end(body);
}

function end(socket: Duplex, error: SuzumioError): void {
  if (!socket.writable) return;
  // A client that disconnects meanwhile is no error.
  socket.on('error', () => socket.destroy());
  socket.end(refusal(error));
  // Closing while the client still sends would discard the response.
  const linger = setTimeout(() => socket.destroy(), lingerMs);
  socket.once('close', () => clearTimeout(linger));
}

function refusal(error: SuzumioError): string {
  const problem = toProblem(error);
  const body = JSON.stringify(problem);
  return [
    `HTTP/1.1 ${problem.status} Refused`,
    `content-type: ${problemMediaType}`,
    `content-length: ${Buffer.byteLength(body)}`,
    ...(problem.status === 405 ? ['allow: '] : []),
    'connection: close',
    '',
    body,
  ].join('\r\n');
}

function reasonFor(code: string | undefined): SuzumioError {
  if (code === 'HPE_HEADER_OVERFLOW') {
    return new SuzumioError('headers-too-large', 'The address and the headers of a request have 16 KiB at most.');
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return new SuzumioError('request-too-slow', 'The request arrived too slowly and was given up.');
  }
  if (code === tooManyChunks) {
    const message = 'The body comes in too many short chunks: send longer ones, or give its length in Content-Length.';
    return new SuzumioError('invalid-request', message);
  }
  return new SuzumioError('invalid-request', 'This is not a request that can be read as HTTP/1.1.');
}
