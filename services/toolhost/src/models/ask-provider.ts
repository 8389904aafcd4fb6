import { request as httpRequest, type Agent, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { createParser } from 'eventsource-parser';
import type { ModelAnswer } from '@suzumio/shared/protocol/model-chat';
import { AnswerBuilder } from './answer-builder.js';
import { wireChunk, wireCompletion } from './chat-wire.js';
import { failureOf, ProviderFailure } from './provider-failure.js';

/** One request to one provider. */
export interface ProviderRequest {
  /** Below which `/chat/completions` is. */
  baseURL: string;
  headers: Readonly<Record<string, string>>;
  body: Readonly<Record<string, unknown>> & { stream: boolean };
  /** For the whole answer. */
  timeoutMs: number;
  /** Between two signs of life. */
  silenceMs: number;
  /** Names calls that came without an id. */
  place: string;
  agents?: { http: Agent; https: Agent };
  signal?: AbortSignal;
}

/** The largest answer that is not streamed, and the largest piece of one that is. */
const maxBodyBytes = 16 * 1024 * 1024;
const failureBodyBytes = 16 * 1024;

/**
 * Asks a provider and returns its whole answer.
 *
 * @param onText gets the text of a streamed answer, in pieces as they come
 * @throws ProviderFailure
 */
export async function askProvider(
  ask: ProviderRequest,
  onText: (text: string) => void = () => undefined,
): Promise<ModelAnswer> {
  const limit = AbortSignal.timeout(ask.timeoutMs);
  const signal = ask.signal ? AbortSignal.any([ask.signal, limit]) : limit;
  try {
    const response = await respond(ask, signal);
    const status = response.statusCode ?? 0;
    if (status < 200 || status >= 300) throw await failed(response, status);
    const streamed = /^text\/event-stream\b/i.test(response.headers['content-type'] ?? '');
    return streamed ? await streamedAnswer(response, ask, onText) : await wholeAnswer(response, ask);
  } catch (error) {
    if (error instanceof ProviderFailure) throw error;
    if (limit.aborted) {
      throw new ProviderFailure(
        'unavailable',
        `the provider did not finish within ${ask.timeoutMs / 1000} s`,
        undefined,
        {
          cause: error,
        },
      );
    }
    const why = error instanceof Error ? error.message : String(error);
    throw new ProviderFailure('unavailable', `the provider could not be asked: ${why}`, undefined, { cause: error });
  }
}

function respond(ask: ProviderRequest, signal: AbortSignal): Promise<IncomingMessage> {
  const url = new URL(`${ask.baseURL.replace(/\/+$/, '')}/chat/completions`);
  const body = Buffer.from(JSON.stringify(ask.body));
  const secure = url.protocol === 'https:';
  return new Promise((resolve, reject) => {
    const outgoing = (secure ? httpsRequest : httpRequest)(url, {
      method: 'POST',
      signal,
      ...(ask.agents ? { agent: secure ? ask.agents.https : ask.agents.http } : {}),
      headers: {
        accept: ask.body.stream ? 'text/event-stream' : 'application/json',
        ...ask.headers,
        'content-type': 'application/json',
        'content-length': body.length,
      },
    });
    outgoing.on('error', reject);
    outgoing.on('response', resolve);
    // A whole answer comes after all thinking, so only the limit for all of it bounds the wait.
    outgoing.setTimeout(ask.body.stream ? ask.silenceMs : ask.timeoutMs, () => {
      outgoing.destroy(new Error(`nothing came for ${ask.silenceMs / 1000} s`));
    });
    outgoing.end(body);
  });
}

async function streamedAnswer(
  response: IncomingMessage,
  { place }: ProviderRequest,
  onText: (text: string) => void,
): Promise<ModelAnswer> {
  const builder = new AnswerBuilder();
  const stream = { done: false };
  const parser = createParser({
    maxBufferSize: maxBodyBytes,
    onEvent({ data }) {
      if (stream.done) return;
      if (data.trim() === '[DONE]') {
        stream.done = true;
        return;
      }
      const piece = json(data);
      const chunk = wireChunk.safeParse(piece);
      if (!chunk.success)
        throw new ProviderFailure('unavailable', 'the provider streamed what is no piece of an answer');
      if (chunk.data.error !== undefined && chunk.data.error !== null) throw errorInStream(piece);
      const text = builder.add(chunk.data);
      if (text !== '') onText(text);
    },
    onError(error) {
      if (error.type === 'max-buffer-size-exceeded') throw new ProviderFailure('answer-too-large', error.message);
    },
  });
  response.setEncoding('utf8');
  for await (const text of response as AsyncIterable<string>) {
    parser.feed(text);
    if (stream.done) break;
  }
  parser.reset({ consume: true });
  if (!stream.done && !builder.finished) {
    throw new ProviderFailure('unavailable', 'the provider ended its stream in the middle of an answer');
  }
  return builder.answer(place);
}

async function wholeAnswer(response: IncomingMessage, { place }: ProviderRequest): Promise<ModelAnswer> {
  const parsed = wireCompletion.safeParse(json(await bodyOf(response, maxBodyBytes)));
  if (!parsed.success) {
    throw new ProviderFailure('unavailable', 'the provider answered what is no answer of a model');
  }
  const { model, usage, choices } = parsed.data;
  const builder = new AnswerBuilder();
  builder.add({
    model,
    usage,
    choices: choices.slice(0, 1).map(({ message, finish_reason }) => ({ index: 0, delta: message, finish_reason })),
  });
  return builder.answer(place);
}

/** A provider that fails after its answer began says so in a piece of the stream. */
function errorInStream(piece: unknown): ProviderFailure {
  const failure = failureOf({ status: 500, body: JSON.stringify(piece), nowMs: 0 });
  return new ProviderFailure(failure.kind, failure.message.replace('answered 500', 'broke off its answer'));
}

async function failed(response: IncomingMessage, status: number): Promise<ProviderFailure> {
  const body = await bodyOf(response, failureBodyBytes).catch(() => '');
  return failureOf({ status, retryAfter: response.headers['retry-after'], body, nowMs: Date.now() });
}

async function bodyOf(response: IncomingMessage, maxBytes: number): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of response as AsyncIterable<Buffer>) {
    parts.push(part);
    size += part.length;
    if (size > maxBytes) break;
  }
  return Buffer.concat(parts).subarray(0, maxBytes).toString('utf8');
}

function json(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ProviderFailure('unavailable', 'the provider answered what is not JSON');
  }
}
