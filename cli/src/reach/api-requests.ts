import type { z } from 'zod';
import { errorCodes, type ErrorCode } from '@suzumio/contract/errors/codes';
import { messageOf, SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { problem } from '@suzumio/protocol/problem';

const answerWithinMs = 30_000;

/** A server's address and what opens it. */
export interface ApiAddress {
  readonly url: string;
  readonly token: string;
}

/** Requests to one server. What goes wrong is a SuzumioError: the server's own, or `server-unreachable`. */
export interface ApiRequests {
  /** Any request, for as long as it takes. */
  ask(path: string, init: RequestInit): Promise<Response>;
  request(method: string, path: string, body?: unknown): Promise<Response>;
  /** Reads an answer that is JSON. */
  parsedAs<Schema extends z.ZodType>(schema: Schema, response: Response): Promise<z.output<Schema>>;
  /** A request whose answer is JSON. */
  json<Schema extends z.ZodType>(
    schema: Schema,
    method: string,
    path: string,
    body?: unknown,
  ): Promise<z.output<Schema>>;
}

/** Where a path of the API is, on a server that may be below a path of its own. */
export function addressOf(url: string, path: string): URL {
  return new URL(`${url.replace(/\/+$/, '')}${path}`);
}

export function createApiRequests({ url, token }: ApiAddress): ApiRequests {
  async function ask(path: string, init: RequestInit): Promise<Response> {
    const headers = new Headers(init.headers);
    headers.set('authorization', `Bearer ${token}`);
    let response: Response;
    try {
      response = await fetch(addressOf(url, path), { ...init, headers });
    } catch (error) {
      throw unreachable(url, error);
    }
    if (!response.ok) throw await refusal(response, url);
    return response;
  }

  const request = (method: string, path: string, body?: unknown): Promise<Response> =>
    ask(path, {
      method,
      ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(answerWithinMs),
    });

  const json = async <Schema extends z.ZodType>(schema: Schema, method: string, path: string, body?: unknown) =>
    parsedAs(schema, await request(method, path, body));

  async function parsedAs<Schema extends z.ZodType>(schema: Schema, response: Response): Promise<z.output<Schema>> {
    const parsed = schema.safeParse(await response.json().catch(() => undefined));
    if (parsed.success) return parsed.data;
    throw new SuzumioError('internal', `The answer of ${url} cannot be read; is it a Suzumio of this version?`);
  }

  return { ask, request, json, parsedAs };
}

/** What is no problem document comes from something else: mostly from a proxy that stands before the server. */
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

/** The failure of a connection to a server. */
export function unreachable(url: string, error: unknown): SuzumioError {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  return new SuzumioError(
    'server-unreachable',
    `No Suzumio server answers at ${url}: ${messageOf(cause)}.`,
    {},
    { cause: error },
  );
}

/** The server's refusal, as the error that it was there. */
async function refusal(response: Response, url: string): Promise<SuzumioError> {
  const parsed = problem.safeParse(await response.json().catch(() => undefined));
  if (!parsed.success) return refusalOfOthers(response.status, url);
  const { code, detail, status } = parsed.data;
  const known = Object.hasOwn(errorCodes, code) ? (code as ErrorCode) : status < 500 ? 'invalid-request' : 'internal';
  return new SuzumioError(known, detail, { answeredBy: url });
}
