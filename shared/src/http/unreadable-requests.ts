import type { Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { toProblem } from '../errors/problem.js';
import { SuzumioError } from '../errors/suzumio-error.js';
import { problemMediaType } from '../protocol/problem.js';

/**
 * Has a server refuse what is no HTTP in the same way as everything else: with a problem document, where no other answer
 * is on its way over that connection.
 */
export function refuseUnreadable(server: Server): void {
  const answering = new WeakMap<Duplex, ServerResponse>();
  server.on('request', (request, response) => answering.set(request.socket, response));
  // Whatever a client expects besides `100-continue`, it gets an answer without it.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const response = answering.get(socket);
    const isAnswered = response?.headersSent === true && !response.writableFinished;
    if (!socket.writable || isAnswered) socket.destroy();
    else socket.end(refusal(error.code), () => socket.destroy());
  });
}

function refusal(code: string | undefined): string {
  const problem = toProblem(reasonFor(code));
  const body = JSON.stringify(problem);
  return [
    `HTTP/1.1 ${problem.status} Refused`,
    `content-type: ${problemMediaType}`,
    `content-length: ${Buffer.byteLength(body)}`,
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
  return new SuzumioError('invalid-request', 'This is not a request that can be read as HTTP/1.1.');
}
