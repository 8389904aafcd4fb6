import { type FetchBody, fetchExchange } from '@suzumio/protocol/fetch-exchange';
import {
  type Exchange,
  type HttpAnswer,
  HttpClient,
  type HttpRequest,
  type Parser,
} from '@suzumio/protocol/http-client';
import type { Call } from './calls.js';
import { failureOf } from './failures.js';

/** A server's address and token. Without a token, a page of that server is who is signed in in its browser. */
export interface ApiAddress {
  readonly url: string;
  readonly token?: string | undefined;
}

/** An API with a transport of its own, which needs no token. */
export interface OwnApi {
  readonly url: string;
  readonly exchange: Exchange<FetchBody>;
}

export interface AskOptions {
  /** A request that is sent twice with the same key takes effect once. */
  readonly idempotencyKey?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** For pages: the request goes to its end where the page is closed. Such requests have at most 64 kB together. */
  readonly keepalive?: boolean | undefined;
}

export interface ClientParts {
  /** How each operation is asked for. */
  readonly calls: Readonly<Record<string, Call>>;
  /** Parses the JSON of an operation's answer. @default it is taken as it is */
  readonly parserOf?: (id: string) => Parser<unknown> | undefined;
  /** Makes the error that is thrown. @default a SuzumioError: the server's own, or `server-unreachable` */
  readonly failure?: (error: unknown, url: string) => unknown;
}

type Input = Readonly<Record<string, unknown>>;

const unchecked: Parser<unknown> = { parse: (value) => value };

/** Asks for one operation. */
type Asking = (input?: Input, options?: AskOptions) => Promise<unknown>;

/** A client whose operations are plain data. The caller says its type. */
export function makeClient(api: ApiAddress | OwnApi, parts: ClientParts): Readonly<Record<string, Asking>> {
  const { calls, parserOf, failure = failureOf } = parts;
  const { url } = api;
  const http = new HttpClient<FetchBody>({ url, exchange: 'exchange' in api ? api.exchange : fetchExchange() });
  const ask = async (
    id: string,
    call: Call,
    input: Input = {},
    { idempotencyKey, signal, keepalive }: AskOptions = {},
  ) => {
    const request: HttpRequest<FetchBody> = {
      method: call.method,
      path: pathOf(call.path, input),
      ...('token' in api && api.token !== undefined ? { token: api.token } : {}),
      signal,
      keepalive,
      timeoutMs: call.timeoutMs,
      ...(idempotencyKey === undefined ? {} : { headers: { 'idempotency-key': idempotencyKey } }),
      ...(call.sends === 'bytes' ? { body: input['body'] as FetchBody } : {}),
      ...(call.sends === 'json' ? { json: input['body'] ?? {} } : {}),
    };
    try {
      if (call.answers === 'json') return await http.json(parserOf?.(id) ?? unchecked, request);
      if (call.answers === 'stream') return chunksOf(await http.open(request));
      return new TextDecoder().decode(await http.send(request));
    } catch (error) {
      throw failure(error, url);
    }
  };
  async function* chunksOf({ body }: HttpAnswer): AsyncGenerator<Uint8Array> {
    try {
      yield* body;
    } catch (error) {
      throw failure(error, url);
    }
  }
  return Object.fromEntries(
    Object.entries(calls).map(([id, call]): [string, Asking] => [
      id,
      (input, options) => ask(id, call, input, options),
    ]),
  );
}

function pathOf(path: string, input: Input): string {
  const filled = path.replaceAll(/:(\w+)/g, (_whole, name: string) => encodeURIComponent(String(input[name])));
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries((input['query'] as object | undefined) ?? {})) {
    if (value !== undefined) query.set(name, String(value));
  }
  return query.size === 0 ? filled : `${filled}?${query.toString()}`;
}
