import { HttpAnswerInvalid, HttpRefusal, HttpUnavailable, type ToldProblem } from '@suzumio/protocol/http-failures';
import { errorCodes, type ErrorCode } from '../errors/codes.js';
import { messageOf, SuzumioError } from '../errors/suzumio-error.js';

/** The error of a failed request to `url`: the server's own, or `server-unreachable`. */
export function failureOf(error: unknown, url: string): unknown {
  if (error instanceof HttpAnswerInvalid) {
    return new SuzumioError('internal', `The answer of ${url} cannot be read; is it a Suzumio of this version?`);
  }
  if (error instanceof HttpRefusal) return refusal(error.answer, url);
  if (!(error instanceof HttpUnavailable)) return error;
  return error.answer ? refusal(error.answer, url) : unreachable(url, error.cause);
}

/** The failure of a connection to a server. */
function unreachable(url: string, error: unknown): SuzumioError {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  return new SuzumioError(
    'server-unreachable',
    `No Suzumio server answers at ${url}: ${messageOf(cause)}.`,
    {},
    { cause: error },
  );
}

/** The server's refusal, as the server's own error. */
function refusal({ status, problem }: { status: number; problem: ToldProblem | undefined }, url: string): SuzumioError {
  if (!problem) return refusalOfOthers(status, url);
  const { code, detail } = problem;
  const known = Object.hasOwn(errorCodes, code) ? (code as ErrorCode) : status < 500 ? 'invalid-request' : 'internal';
  return new SuzumioError(known, detail, { answeredBy: url });
}

/** An answer without a problem document is from something else, mostly a proxy before the server. */
function refusalOfOthers(status: number, url: string): SuzumioError {
  const answers = `${url} answers with status ${String(status)}, and not as Suzumio does`;
  if (status === 413) {
    return new SuzumioError('body-too-large', `${answers}: a proxy before it takes no body as large as this one.`, {
      next: 'let the proxy take larger bodies, in nginx with client_max_body_size   (see docs/deployment.md, "Behind a proxy")',
    });
  }
  if (status === 502 || status === 503 || status === 504) {
    const why = status === 504 ? 'no answer in time' : 'no answer';
    return new SuzumioError('server-unreachable', `${answers}: a proxy before it gets ${why} from the server.`, {
      next: 'see that the server runs, and that the proxy passes requests to its address',
    });
  }
  return new SuzumioError('internal', `${answers}; is it a Suzumio server, and the whole of its address?`);
}
