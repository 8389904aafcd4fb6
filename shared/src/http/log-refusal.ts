import type { IncomingMessage } from 'node:http';
import type { ErrorCode } from '../errors/codes.js';
import { isSuzumioError } from '../errors/suzumio-error.js';
import type { Logger } from '../observability/logger.js';
import type { Metrics } from '../observability/metrics.js';

/** Codes of requests that were refused for who sent them or for where they came from. */
const refusals: readonly ErrorCode[] = [
  'unauthenticated',
  'token-rejected',
  'forbidden',
  'policy-denied',
  'foreign-host',
  'foreign-origin',
  'rate-limited',
  'attempt-over',
];

/** Whoever was not let in leaves a count and a line, with nothing in it of what was shown to get in. */
export function logRefusal(
  { logger, metrics }: { logger: Logger; metrics: Pick<Metrics, 'requestsRefused'> },
  error: unknown,
  request: IncomingMessage,
): void {
  if (!isSuzumioError(error, ...refusals)) return;
  metrics.requestsRefused.inc({ code: error.code });
  const path = request.url?.split('?', 1)[0];
  const line = { code: error.code, method: request.method, path, from: request.socket.remoteAddress };
  // One that comes too often would fill the log.
  if (error.code === 'rate-limited') logger.debug(line, 'a request was refused');
  else logger.warn(line, 'a request was refused');
}
