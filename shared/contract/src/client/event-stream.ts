import { createParser } from 'eventsource-parser';
import { backOff } from '@suzumio/protocol/retry';

/** One message of a stream of server-sent events. */
export interface StreamMessage {
  readonly id: string | undefined;
  readonly type: string;
  readonly data: unknown;
}

export interface FollowStream {
  /** Opens the stream after the message of an id; without one, from its beginning. */
  readonly open: (after: string | undefined, signal: AbortSignal) => Promise<AsyncIterable<Uint8Array>>;
  readonly after: string | undefined;
  /** A connection was made: the first one, or another after it was lost. */
  readonly onOpen?: (() => void) | undefined;
  /** The connection was lost; it is made again until `signal` ends it. */
  readonly onLost: (() => void) | undefined;
  readonly signal: AbortSignal | undefined;
}

/** A server says something every 15 s; after this time without a byte, the connection is taken for dead. */
const silenceMs = 60_000;
const maxMessageChars = 8 * 1024 * 1024;
const reconnect = { firstDelayMs: 1_000, longestDelayMs: 10_000 };

/**
 * The messages of a stream, each once and in order: a connection that is lost is resumed where it stopped. Ends when
 * `signal` is aborted.
 *
 * @throws what `open` throws, unless it is `retryable`
 */
export async function* followStream({
  open,
  after,
  onOpen,
  onLost,
  signal,
}: FollowStream): AsyncGenerator<StreamMessage> {
  let [last, isLost, wait] = [after, false, backOff(reconnect, signal)];
  const isOver = () => signal?.aborted === true;
  while (!isOver()) {
    const silence = new AbortController();
    try {
      const chunks = await open(last, AbortSignal.any([silence.signal, ...(signal ? [signal] : [])]));
      [isLost, wait] = [false, backOff(reconnect, signal)];
      onOpen?.();
      for await (const message of messagesIn(chunks, silence)) {
        last = message.id ?? last;
        yield message;
      }
    } catch (error) {
      if (isOver()) return;
      if (!silence.signal.aborted && !mayBeTriedAgain(error)) throw error;
    }
    if (isOver()) return;
    if (!isLost) onLost?.();
    isLost = true;
    await wait();
  }
}

/** The messages of one connection. `silence` is aborted when nothing comes for too long. */
export async function* messagesIn(
  chunks: AsyncIterable<Uint8Array>,
  silence: AbortController,
): AsyncGenerator<StreamMessage> {
  const decoder = new TextDecoder();
  let read: StreamMessage[] = [];
  const parser = createParser({
    maxBufferSize: maxMessageChars,
    onEvent: ({ id, event = 'message', data }) => {
      read.push({ id, type: event, data: JSON.parse(data) });
    },
    onError(error) {
      if (error.type === 'max-buffer-size-exceeded') throw error;
    },
  });
  const iterator = chunks[Symbol.asyncIterator]();
  try {
    for (;;) {
      const timer = setTimeout(() => silence.abort(new Error('nothing came for a minute')), silenceMs);
      const next = await iterator.next().finally(() => clearTimeout(timer));
      if (next.done === true) return;
      parser.feed(decoder.decode(next.value, { stream: true }));
      yield* read;
      read = [];
    }
  } finally {
    await iterator.return?.();
  }
}

/** Whether the same request may succeed later. */
export function mayBeTriedAgain(error: unknown): boolean {
  return error instanceof Error && 'retryable' in error && error.retryable === true;
}
