import type { IncomingMessage } from 'node:http';
import type { ErrorCode } from '@suzumio/contract/errors/codes';
import { isSuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { Logger } from '../observability/logger.js';
import type { Metrics } from '../observability/metrics.js';

/** Codes of refusals because of a request's sender or origin. */
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

const linesPerSecond = 20;
const shownCharacters = 200;

/**
 * Logs the errors of one listener. A refused client leaves a count and a line without its credentials. Lines are
 * limited in number and length, since untrusted clients cause them and could fill the disk.
 *
 * @param now milliseconds of a monotonic clock
 */
export function refusalLog(
  { logger, metrics }: { logger: Pick<Logger, 'debug' | 'warn'>; metrics: Pick<Metrics, 'requestsRefused'> },
  now: () => number = () => performance.now(),
): (error: unknown, request: IncomingMessage) => void {
  let second = { since: -Infinity, lines: 0 };
  return (error, request) => {
    if (!isSuzumioError(error, ...refusals)) return;
    metrics.requestsRefused.inc({ code: error.code });
    if (now() - second.since >= 1_000) second = { since: now(), lines: 0 };
    const path = request.url?.split('?', 1)[0]?.slice(0, shownCharacters);
    const line = { code: error.code, method: request.method, path, from: request.socket.remoteAddress };
    // The worker of an ended attempt, for instance one that waits for a model, may not know of its end yet.
    if (error.code === 'rate-limited' || error.code === 'attempt-over' || second.lines > linesPerSecond) {
      logger.debug(line, 'a request was refused');
      return;
    }
    second.lines += 1;
    if (second.lines <= linesPerSecond) logger.warn(line, 'a request was refused');
    else logger.warn('more requests were refused in this second, and are only counted');
  };
}
