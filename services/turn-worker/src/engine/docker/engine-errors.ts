import { AttemptFailure } from '../attempt-failure.js';
import { errnoOf } from '../../files/errno.js';
import { messageOf } from '@suzumio/contract/errors/suzumio-error';

const unreachable = new Set([
  'ECONNREFUSED',
  'ENOENT',
  'EACCES',
  'EPERM',
  'ECONNRESET',
  'EPIPE',
  'ENOTFOUND',
  'ETIMEDOUT',
]);

/** The engine's HTTP status, if it answered. */
export function statusOf(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null || !('statusCode' in error)) return undefined;
  return typeof error.statusCode === 'number' ? error.statusCode : undefined;
}

/** Translates an error of the engine's API for an attempt that has not started. */
export function engineFailure(error: unknown, doing: string): AttemptFailure {
  if (error instanceof AttemptFailure) return error;
  const said = messageOf(error).trim().slice(0, 500);
  const options = { cause: error };
  if (statusOf(error) === undefined && unreachable.has(errnoOf(error) ?? '')) {
    return new AttemptFailure('engine-unreachable', `The container engine does not answer: ${said}.`, options);
  }
  if (/no space left on device/i.test(said)) {
    return new AttemptFailure('disk-full', `The engine's disk is full: ${said}`, options);
  }
  if (/no such image/i.test(said)) return new AttemptFailure('image-missing', said, options);
  if (/exec: "node"|exec node/.test(said) && /not found|no such file/i.test(said)) {
    return new AttemptFailure('image-without-node', withoutNode, options);
  }
  return new AttemptFailure('container-start-failed', `The engine could not ${doing}: ${said}`, options);
}

/** The message for an image that lacks what the shim needs. */
export const withoutNode =
  'The image has no `node` on its PATH. Any image with Node can run turns; add it to the image, or use the default runner image.';
