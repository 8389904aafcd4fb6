import type { Problem } from '@suzumio/protocol/problem';
import { isSuzumioError, SuzumioError } from './suzumio-error.js';

/** Converts any error into the problem document for a client. Unexpected errors reveal nothing of their content. */
export function toProblem(error: unknown): Problem {
  const known = isSuzumioError(error)
    ? error
    : new SuzumioError('internal', 'Something went wrong on our side; the log of the service has the details.');
  return {
    ...known.details,
    type: `urn:suzumio:problem:${known.code}`,
    title: known.code.replaceAll('-', ' '),
    status: known.status,
    code: known.code,
    detail: known.message,
    retryable: known.retryable,
  };
}
