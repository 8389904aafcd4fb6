import { fetchExchange } from '@suzumio/protocol/fetch-exchange';
import { HttpClient, type HttpRequest, isServersFault } from '@suzumio/protocol/http-client';
import { HttpRefusal, HttpUnavailable } from '@suzumio/protocol/http-failures';
import { retry } from '@suzumio/protocol/retry';
import { SuzumioError } from './errors.js';

/** One request to the ToolHost. */
export interface Ask extends HttpRequest<Uint8Array<ArrayBuffer>> {
  /** The form of a successful answer. @default 'json' */
  readonly answer?: 'json' | 'bytes';
  /** The timeout. @default 15_000 */
  readonly timeoutMs?: number;
}

/** A client of a ToolHost. */
export class Http {
  readonly #url: string;
  readonly #client: HttpClient;

  constructor(url: string) {
    this.#url = url;
    this.#client = new HttpClient({
      url,
      exchange: fetchExchange({ redirect: 'error' }),
      // The caller limits how much of a file is read.
      maxAnswerBytes: Infinity,
      isTransient: (status) => isServersFault(status) || status === 429,
    });
  }

  /**
   * Sends a request once.
   *
   * @throws {@link SuzumioError} when it is refused, HttpUnavailable when it may be retried
   */
  async ask<Answer>({ answer = 'json', timeoutMs = 15_000, ...request }: Ask, signal?: AbortSignal): Promise<Answer> {
    try {
      const bytes = await this.#client.send({ ...request, timeoutMs, signal });
      return (answer === 'bytes' ? bytes : parsed(new TextDecoder().decode(bytes))) as Answer;
    } catch (error) {
      if (error instanceof HttpUnavailable && error.answer === undefined)
        throw new HttpUnavailable(`${this.#url} does not answer: ${error.message}`, { cause: error });
      if (error instanceof HttpRefusal) throw new SuzumioError(error.code, error.message, error.status);
      throw error;
    }
  }

  /**
   * Retries a request until it is answered or refused.
   *
   * @param onFailure called for each try without an answer
   * @throws {@link SuzumioError}, or the signal's reason once it is aborted
   */
  repeat<Answer>(
    ask: Ask,
    signal: AbortSignal,
    onFailure: (error: unknown) => void = () => undefined,
  ): Promise<Answer> {
    const isRetryable = (error: unknown) => error instanceof HttpUnavailable;
    const options = { firstDelayMs: 100, longestDelayMs: 5_000, isRetryable, signal, onFailure };
    return retry(() => this.ask<Answer>(ask, signal), options);
  }
}

/** An answer without content is undefined. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return {};
  }
}
