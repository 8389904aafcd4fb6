import { messageOf, NoAnswer, SuzumioError } from './errors.js';
import { pause } from './pause.js';

/** One request to the ToolHost. */
export interface Ask {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  path: string;
  token: string;
  /** Sent as JSON, or as it is where it is bytes. */
  body?: object | Uint8Array<ArrayBuffer>;
  /** What is answered where it is done. @default 'json' */
  answer?: 'json' | 'bytes';
  /** After how long it counts as not answered. @default 15_000 */
  timeoutMs?: number;
}

const firstPauseMs = 100;
const longestPauseMs = 5_000;

/** Asks a ToolHost. */
export class Http {
  readonly #url: string;

  constructor(url: string) {
    this.#url = url.replace(/\/+$/, '');
  }

  /**
   * Asks once.
   *
   * @throws {@link SuzumioError} when it is refused, {@link NoAnswer} when it may be asked again
   */
  async ask<Answer>(
    { method, path, token, body, answer = 'json', timeoutMs = 15_000 }: Ask,
    signal?: AbortSignal,
  ): Promise<Answer> {
    const raw = body instanceof Uint8Array;
    const headers = {
      authorization: `Bearer ${token}`,
      'content-type': raw ? 'application/octet-stream' : 'application/json',
    };
    const content = body === undefined ? {} : { body: raw ? body : JSON.stringify(body) };
    const bounds = AbortSignal.any([AbortSignal.timeout(Math.ceil(timeoutMs)), ...(signal ? [signal] : [])]);
    let status: number;
    let bytes: Uint8Array;
    try {
      const response = await fetch(this.#url + path, {
        method,
        headers,
        ...content,
        signal: bounds,
        redirect: 'error',
      });
      status = response.status;
      bytes = new Uint8Array(await response.arrayBuffer());
    } catch (error) {
      signal?.throwIfAborted();
      const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
      throw new NoAnswer(`${this.#url} does not answer: ${messageOf(cause)}`);
    }
    return (answer === 'bytes' && status < 300 ? bytes : answered(status, new TextDecoder().decode(bytes))) as Answer;
  }

  /**
   * Asks again, with the same words, until there is an answer or a refusal.
   *
   * @param onPause told of each time that there was none
   * @throws {@link SuzumioError}, or the signal's reason once it is aborted
   */
  async insist<Answer>(ask: Ask, signal: AbortSignal, onPause?: (error: NoAnswer) => void): Promise<Answer> {
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
      signal.throwIfAborted();
      try {
        return await this.ask<Answer>(ask, signal);
      } catch (error) {
        if (!(error instanceof NoAnswer)) throw error;
        onPause?.(error);
        // Handlers that lost the same ToolHost do not come back all at once.
        await pause(pauseMs * (0.5 + Math.random() / 2), signal);
      }
    }
  }
}

function answered(status: number, text: string): unknown {
  const json = parsed(text);
  if (status >= 200 && status < 300) return json;
  const { code = `http-${String(status)}`, detail = text.slice(0, 200) } = json as { code?: string; detail?: string };
  if (status >= 500 || status === 408 || status === 429) throw new NoAnswer(`${code}: ${detail}`);
  throw new SuzumioError(code, detail, status);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return {};
  }
}
