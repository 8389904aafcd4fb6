import { isSuzumioError, messageOf, SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { type FetchBody, fetchExchange } from '@suzumio/protocol/fetch-exchange';
import { type HttpAnswer, HttpClient } from '@suzumio/protocol/http-client';
import { HttpUnavailable } from '@suzumio/protocol/http-failures';
import { type LiveFrame, type LiveLine, liveLine, livePathOf } from '@suzumio/protocol/live';
import { backOff } from '@suzumio/protocol/retry';
import { toolhostHealth, toolhostHealthPath } from '@suzumio/protocol/toolhost-health';

/** The longest line: all that a ToolHost keeps of a turn, as JSON. */
const maxLineChars = 1024 * 1024;
/** The longest answer of one that is asked whether it serves. */
const maxHealthBytes = 64 * 1024;
const reconnect = { firstDelayMs: 250, longestDelayMs: 5_000 };

/** The longest wait for a ToolHost that is asked whether it serves. */
const healthWithinMs = 2_000;

/** What a ToolHost answered just now. */
export interface AskedToolHost {
  url: string;
  /** Its version; null where it did not answer, or refused. */
  version: string | null;
  /** Why not. */
  problem: string | null;
}

/** Receives what a turn does. The next frame waits for what it returns. */
export type TakeFrame = (frame: LiveFrame) => Promise<void>;

/** The ToolHosts of the cell. Any of them may serve any call of a turn, so that a turn is followed at all of them. */
export class ToolHosts {
  constructor(
    /** Their addresses for workers. */
    private readonly urls: () => readonly string[],
    private readonly token: string,
  ) {}

  /** Asks each whether it serves this cell. */
  ask(signal: AbortSignal): Promise<AskedToolHost[]> {
    return Promise.all(
      this.urls().map(async (url) => {
        const client = new HttpClient<FetchBody>({ url, exchange: fetchExchange(), maxAnswerBytes: maxHealthBytes });
        const request = {
          method: 'GET',
          path: toolhostHealthPath,
          token: this.token,
          timeoutMs: healthWithinMs,
        } as const;
        try {
          const { version } = await client.json(toolhostHealth, { ...request, signal });
          return { url, version, problem: null };
        } catch (error) {
          return { url, version: null, problem: codeOf(error) ?? messageOf(error).slice(0, 200) };
        }
      }),
    );
  }

  /**
   * Follows a turn, at all that can be reached.
   *
   * @returns passes what is told to `take`; resolves once one of them says that the attempt is over, or `signal` is aborted
   * @throws SuzumioError `live-full`; `live-unavailable` where none can be reached
   */
  async follow(project: string, turn: string, signal: AbortSignal): Promise<(take: TakeFrame) => Promise<void>> {
    const path = livePathOf(project, turn);
    const clients = this.urls().map((url) => new HttpClient<FetchBody>({ url, exchange: fetchExchange() }));
    const open = (client: HttpClient<FetchBody>) => client.open({ method: 'GET', path, token: this.token, signal });
    const opened = await Promise.allSettled(clients.map(open));
    if (!opened.some(({ status }) => status === 'fulfilled')) throw unavailable(opened);
    return async (take) => {
      const over = new AbortController();
      const done = AbortSignal.any([signal, over.signal]);
      const isOver = () => done.aborted;
      await Promise.all(
        opened.map(async (first, index) => {
          const client = clients[index];
          if (client === undefined) return;
          let told = first.status === 'fulfilled' ? first.value : undefined;
          let wait = backOff(reconnect, done);
          while (!isOver()) {
            if (told) {
              if (await tellAll(told, take, done)) over.abort('over');
              wait = backOff(reconnect, done);
              // What it says until it is reached again is lost.
              if (!isOver()) await take({ kind: 'gap', bytes: 0 });
            }
            await wait();
            if (!isOver()) told = await open(client).catch(() => undefined);
          }
        }),
      );
    };
  }
}

/** Passes on what comes over one connection. Returns whether the attempt is over; else the connection was lost. */
async function tellAll(answer: HttpAnswer, take: TakeFrame, done: AbortSignal): Promise<boolean> {
  const leave = () => answer.discard();
  done.addEventListener('abort', leave, { once: true });
  try {
    for await (const line of linesOf(answer.body)) {
      if (done.aborted) return false;
      if (line.kind === 'end') return true;
      await take(line);
    }
    return false;
  } catch {
    return false;
  } finally {
    done.removeEventListener('abort', leave);
    answer.discard();
  }
}

/** @throws RangeError for a line that is too long; what parsing throws */
async function* linesOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<LiveLine> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of body) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > maxLineChars) throw new RangeError('a line of a ToolHost is too long');
    for (const line of lines) if (line !== '') yield liveLine.parse(JSON.parse(line));
  }
}

function unavailable(opened: readonly PromiseSettledResult<unknown>[]): SuzumioError {
  const reasons = opened.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []));
  const full = reasons.find((reason) => codeOf(reason) === 'live-full');
  if (full !== undefined) {
    return new SuzumioError('live-full', 'As many follow running turns as may at a time; try again later.', {
      retryAfterSeconds: 5,
    });
  }
  const why =
    reasons.length === 0 ? 'no ToolHost is set (SUZUMIO_TOOLHOST_URLS)' : 'no ToolHost can be reached at the moment';
  return new SuzumioError(
    'live-unavailable',
    `Running turns cannot be followed: ${why}. What they did is on record.`,
    {},
    {
      cause: reasons[0],
    },
  );
}

function codeOf(error: unknown): string | undefined {
  if (isSuzumioError(error)) return error.code;
  return error instanceof HttpUnavailable ? error.answer?.problem?.code : undefined;
}
