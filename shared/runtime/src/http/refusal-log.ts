import type { IncomingMessage } from 'node:http';
import type { ErrorCode } from '@suzumio/contract/errors/codes';
import { isSuzumioError } from '@suzumio/contract/errors/suzumio-error';
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

const linesPerSecond = 20;
const shownCharacters = 200;

/**
 * Logs the errors of one listener. A client that was not let in leaves a count and a line without its credentials. Lines
 * are bounded in number and length, since strangers cause them: a page or a container that asks without end would fill
 * the disk.
 *
 * @param now milliseconds of a clock that only goes on
 */
export function refusalLog(
  { logger, metrics }: { logger: Logger; metrics: Pick<Metrics, 'requestsRefused'> },
  now: () => number = () => performance.now(),
): (error: unknown, request: IncomingMessage) => void {
  let second = { since: -Infinity, lines: 0 };
  return (error, request) => {
    if (!isSuzumioError(error, ...refusals)) return;
    metrics.requestsRefused.inc({ code: error.code });
    if (now() - second.since >= 1_000) second = { since: now(), lines: 0 };
    const path = request.url?.split('?', 1)[0]?.slice(0, shownCharacters);
    const line = { code: error.code, method: request.method, path, from: request.socket.remoteAddress };
    // An attempt that was ended, as when it waits for a model, has a worker that does not know yet.
    if (error.code === 'rate-limited' || error.code === 'attempt-over' || second.lines > linesPerSecond) {
      logger.debug(line, 'a request was refused');
      return;
    }
    second.lines += 1;
    if (second.lines <= linesPerSecond) logger.warn(line, 'a request was refused');
    else logger.warn('more requests were refused in this second, and are only counted');
  };
}
