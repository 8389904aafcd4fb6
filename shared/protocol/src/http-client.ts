import { HttpAnswerInvalid, HttpRefusal, HttpUnavailable, problemIn, unavailable } from './http-failures.js';

export interface HttpRequest<Body = never> {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'PATCH' | 'DELETE';
  /** Begins with a slash; relative to the client's base address. */
  readonly path: string;
  /** Sent as a bearer token. */
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly json?: unknown;
  /** Sent as it is. */
  readonly body?: Body | undefined;
  /** Limits the whole exchange, or the time without traffic, depending on the exchange. @default no limit */
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Whether it goes to its end where the page that sent it is closed: of `fetch` alone, which takes 64 kB so. */
  readonly keepalive?: boolean | undefined;
}

/** A request as it is sent. */
export interface OutgoingRequest<Body> extends Pick<HttpRequest, 'method' | 'timeoutMs' | 'signal' | 'keepalive'> {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Body | string | undefined;
}

/** The head of a response. The body must be read to its end, or discarded. */
export interface HttpAnswer {
  readonly status: number;
  readonly header: (name: string) => string | undefined;
  readonly body: AsyncIterable<Uint8Array>;
  readonly discard: () => void;
}

/**
 * Sends one request, over `fetch`, kept-alive connections, a unix socket or a pipe. Throws HttpUnavailable where there
 * is no answer, and what reading the request's body threw.
 */
export type Exchange<Body> = (request: OutgoingRequest<Body>) => Promise<HttpAnswer>;

export interface HttpClientOptions<Body> {
  /** The base address. */
  readonly url: string;
  readonly exchange: Exchange<Body>;
  /** The largest answer that is read into memory. @default 64 MiB */
  readonly maxAnswerBytes?: number;
  /** Whether a status says that the same request may succeed later. @default 408, and 500 or more */
  readonly isTransient?: (status: number, method: HttpRequest['method']) => boolean;
}

/** Parses an answer; a zod schema is one. */
export interface Parser<Value> {
  parse(value: unknown): Value;
}

const defaultMaxAnswerBytes = 64 * 1024 * 1024;

/** Requests to one server. The class of an error says whether repeating the request may help. */
export class HttpClient<Body = Uint8Array<ArrayBuffer>> {
  readonly #options: Required<HttpClientOptions<Body>>;

  constructor({
    url,
    exchange,
    maxAnswerBytes = defaultMaxAnswerBytes,
    isTransient = isServersFault,
  }: HttpClientOptions<Body>) {
    this.#options = { url: url.replace(/\/+$/, ''), exchange, maxAnswerBytes, isTransient };
  }

  /**
   * Returns any answer, also a refusal, except one that says that the server cannot answer now.
   *
   * @throws HttpUnavailable, the reason of the request's signal, or what reading its body threw
   */
  async ask(request: HttpRequest<Body>): Promise<HttpAnswer> {
    const { url, exchange, isTransient } = this.#options;
    const { method, path, signal, timeoutMs, keepalive } = request;
    let answer: HttpAnswer;
    try {
      answer = await exchange({ method, url: url + path, signal, timeoutMs, keepalive, ...contentOf(request) });
    } catch (error) {
      signal?.throwIfAborted();
      throw error;
    }
    if (!isTransient(answer.status, method)) return { ...answer, body: whole(answer, signal) };
    const problem = problemIn(await this.#text(answer));
    const told = problem ? `${problem.code}: ${problem.detail}` : 'not by Suzumio';
    const { status } = answer;
    throw new HttpUnavailable(`${method} ${path} was answered ${String(status)} (${told})`, {
      answer: { status, problem },
    });
  }

  /**
   * Returns a successful answer, whose body the caller reads.
   *
   * @throws HttpUnavailable, HttpRefusal, or the reason of the request's signal
   */
  async open(request: HttpRequest<Body>): Promise<HttpAnswer> {
    const answer = await this.ask(request);
    const { status } = answer;
    if (status >= 200 && status < 300) return answer;
    const text = await this.#text(answer);
    const problem = problemIn(text);
    const { method, path } = request;
    const message = problem?.detail ?? (text.slice(0, 200) || `${method} ${path} was answered ${String(status)}.`);
    throw new HttpRefusal(message, { status, problem });
  }

  /**
   * Returns the whole body of a successful answer. Throws as {@link open} does.
   *
   * @throws RangeError when it is longer than `maxAnswerBytes`
   */
  async send(request: HttpRequest<Body>): Promise<Uint8Array<ArrayBuffer>> {
    return bytesOf(await this.open(request), this.#options.maxAnswerBytes);
  }

  /**
   * Returns the parsed value of a successful answer. Throws as {@link open} does.
   *
   * @throws HttpAnswerInvalid where the answer does not parse
   */
  async json<Value>(parser: Parser<Value>, request: HttpRequest<Body>): Promise<Value> {
    const bytes = await this.send(request);
    try {
      return parser.parse(JSON.parse(new TextDecoder().decode(bytes)));
    } catch (cause) {
      const { method, path } = request;
      throw new HttpAnswerInvalid(`The answer of ${method} ${path} cannot be read.`, { cause });
    }
  }

  /** The body of a failure, which need not be complete, since it only explains. */
  async #text(answer: HttpAnswer): Promise<string> {
    const bytes = await bytesOf(answer, this.#options.maxAnswerBytes).catch(() => undefined);
    return new TextDecoder().decode(bytes);
  }
}

/** An answer's body; throws where it is incomplete. */
async function* whole({ body }: HttpAnswer, signal: AbortSignal | undefined): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of body) yield chunk;
  } catch (error) {
    signal?.throwIfAborted();
    throw unavailable(error);
  }
}

/**
 * An answer's body.
 *
 * @throws RangeError when it is longer than `maxBytes`; HttpUnavailable where it is incomplete
 */
export async function bytesOf({ body, discard }: HttpAnswer, maxBytes: number): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > maxBytes) {
      discard();
      throw new RangeError(`an answer of more than ${String(maxBytes)} bytes`);
    }
    chunks.push(chunk);
  }
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}

/** Includes 408: the server gave up waiting for the body, for instance while this process was paused. */
export function isServersFault(status: number): boolean {
  return status >= 500 || status === 408;
}

function contentOf<Body>({ token, headers, json, body }: HttpRequest<Body>): {
  headers: Record<string, string>;
  body: Body | string | undefined;
} {
  const type = json !== undefined ? 'application/json' : body === undefined ? undefined : 'application/octet-stream';
  return {
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(type === undefined ? {} : { 'content-type': type }),
      ...headers,
    },
    body: json === undefined ? body : JSON.stringify(json),
  };
}
