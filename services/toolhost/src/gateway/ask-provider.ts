import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { isSuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { connectionFailure, ProxyFailure } from '@suzumio/runtime/http/connection-failure';
import { answerTo, Outbound } from '@suzumio/runtime/http/outbound';
import { ProxySettings, shownProxy } from '@suzumio/runtime/http/proxy-settings';
import { AnswerBody, bytesOf } from './answer-body.js';
import { AnswerBuilder, type ProviderAnswer } from './answer-builder.js';
import { AskProgress } from './ask-progress.js';
import { askedToWait, failureOf, ProviderFailure } from './provider-failure.js';
import { redactedFailure } from './redacted-failure.js';

import { wireJson } from './read-answer.js';
import type { RequestBody, ShownImages } from './shown-images.js';
import type { WireFormat } from './wire.js';

/** One request to one provider. */
export interface ProviderRequest {
  baseURL: string;
  /** The format of request and answer. */
  format: WireFormat;
  headers: Readonly<Record<string, string>>;
  body: Readonly<Record<string, unknown>> & { readonly stream: boolean };
  /** The images that the body refers to. */
  images?: ShownImages | undefined;
  /** The deadline for the whole answer, and for its first chunk, since models load and think before it. */
  timeoutMs: number;
  /** The longest silence within a stream. */
  silenceMs: number;
  /** @default direct */
  outbound?: Outbound | undefined;
  signal?: AbortSignal;
}

/** A request as its bytes: what it was made of takes several times as much, and its answer may take minutes. */
export interface WrittenRequest extends Omit<ProviderRequest, 'body' | 'images'> {
  outbound: Outbound;
  isStreamed: boolean;
  bytes: Buffer | RequestBody;
}

export function written({
  body,
  images,
  outbound = new Outbound(new ProxySettings({})),
  ...request
}: ProviderRequest): WrittenRequest {
  const bytes = images?.body(body) ?? Buffer.from(JSON.stringify(body));
  return { ...request, outbound, isStreamed: body.stream, bytes };
}

const failureBodyBytes = 16 * 1024;

/**
 * Sends a request to a provider and returns the whole answer.
 *
 * @param onText gets the text of a streamed answer as it comes
 * @param progress records how far the request comes, also if it fails
 * @throws ProviderFailure without the provider's credentials
 */
export async function askProvider(
  ask: WrittenRequest,
  onText: (text: string) => void = () => undefined,
  progress = new AskProgress(),
): Promise<ProviderAnswer> {
  const limit = AbortSignal.timeout(ask.timeoutMs);
  const signal = ask.signal ? AbortSignal.any([ask.signal, limit]) : limit;
  let retryAfter: string | undefined;
  try {
    const response = await respond(ask, signal, progress);
    retryAfter = response.headers['retry-after'];
    const status = response.statusCode ?? 0;
    progress.status = status;
    progress.heard();
    if (status < 200 || status >= 300) throw await failed(response, status);
    return await answerIn(response, ask, onText, progress);
  } catch (error) {
    // An image is gone: no fault of the provider's.
    if (isSuzumioError(error, 'content-missing')) throw error;
    if (error instanceof ProviderFailure) {
      progress.status = error.status ?? progress.status;
      throw redactedFailure(askedToWait(error, retryAfter, Date.now()), ask, ask.outbound.settings.secrets);
    }
    if (limit.aborted) {
      progress.timedOut = true;
      throw new ProviderFailure(
        'unavailable',
        `the provider did not finish within ${ask.timeoutMs / 1000} s`,
        undefined,
        {
          cause: error,
        },
      );
    }
    const refused = error instanceof ProxyFailure && error.refused;
    const failure = new ProviderFailure(
      refused ? 'request-refused' : 'unavailable',
      describe(error, ask, progress),
      undefined,
      {
        cause: error,
      },
    );
    throw redactedFailure(failure, ask, ask.outbound.settings.secrets);
  }
}

async function respond(ask: WrittenRequest, signal: AbortSignal, progress: AskProgress): Promise<IncomingMessage> {
  const url = urlOf(ask);
  const { bytes: body } = ask;
  const opened = await ask.outbound.open(url, {
    method: 'POST',
    signal,
    hasKey: hasKey(ask),
    headers: {
      accept: ask.isStreamed ? 'text/event-stream' : 'application/json',
      ...ask.headers,
      'content-type': 'application/json',
      'content-length': body.length,
    },
  });
  const { outgoing, proxy } = opened;
  const answer = answerTo(opened, url);
  outgoing.on('socket', (socket) => {
    // The connection is the proxy's: only an answer is the provider's.
    if (proxy) return;
    // A reused socket, and one through a tunnel, is connected already.
    if (!socket.connecting) progress.connected = true;
    else socket.once(url.protocol === 'https:' ? 'secureConnect' : 'connect', () => (progress.connected = true));
  });
  outgoing.on('finish', () => (progress.sent = true));
  if (Buffer.isBuffer(body)) outgoing.end(body);
  const sent = Buffer.isBuffer(body) ? answer : pipeline(Readable.from(body), outgoing).then(() => answer);
  const response = await Promise.race([answer, sent]);
  progress.connected = true;
  return response;
}

function urlOf({ baseURL, format }: WrittenRequest): URL {
  return new URL(`${baseURL.replace(/\/+$/, '')}${format.path}`);
}

/** Whether a request has what another may not read: any header of its own may be a key, as may a query. */
function hasKey({ baseURL, headers }: WrittenRequest): boolean {
  const { username, password, search } = new URL(baseURL);
  return Object.keys(headers).length > 0 || username !== '' || password !== '' || search !== '';
}

function describe(error: unknown, ask: WrittenRequest, progress: AskProgress): string {
  const proxy = ask.outbound.proxyFor(urlOf(ask), hasKey(ask));
  if (!progress.connected) return connectionFailure(error, ask.baseURL, proxy && shownProxy(proxy));
  return `the provider could not be asked: ${error instanceof Error ? error.message : String(error)}`;
}

/** Reads an answer: events as they come, or all of it as one. */
async function answerIn(
  response: IncomingMessage,
  { format, silenceMs }: WrittenRequest,
  onText: (text: string) => void,
  progress: AskProgress,
): Promise<ProviderAnswer> {
  const builder = new AnswerBuilder();
  const read = format.events();
  const stream = { done: false };
  const body = new AnswerBody((json) => {
    if (stream.done) return;
    for (const chunk of read(wireJson(json))) {
      const text = builder.add(chunk);
      progress.reached(builder.chars);
      if (text !== '') onText(text);
      if (chunk.last) stream.done = true;
    }
  });
  const decoder = new TextDecoder();
  let silence: NodeJS.Timeout | undefined;
  try {
    for await (const bytes of bytesOf(response)) {
      progress.heard();
      body.feed(decoder.decode(bytes, { stream: true }));
      if (stream.done || body.isDone) break;
      if (!body.isStream && !isEvents(response)) continue;
      silence ??= setTimeout(() => {
        progress.fellSilent = true;
        response.destroy(new Error(`nothing came for ${silenceMs / 1000} s`));
      }, silenceMs);
      silence.refresh();
    }
  } catch (error) {
    // Something of the answer has come, and may be billed.
    if (!(error instanceof ProviderFailure)) progress.reached(builder.chars);
    // An answer with a finish reason is complete, even if its connection then fails.
    if (error instanceof ProviderFailure || !builder.finished) throw error;
  } finally {
    clearTimeout(silence);
  }
  const whole = body.end();
  if (whole !== undefined && !(whole === '' && isEvents(response))) {
    for (const chunk of format.whole(wireJson(whole))) builder.add(chunk);
  } else if (!stream.done && !body.isDone && !builder.finished) {
    throw new ProviderFailure('unavailable', 'the provider ended its stream in the middle of an answer');
  }
  return builder.answer();
}

function isEvents({ headers }: IncomingMessage): boolean {
  return /^text\/event-stream\b/i.test(headers['content-type'] ?? '');
}

async function failed(response: IncomingMessage, status: number): Promise<ProviderFailure> {
  const body = await bodyOf(response, failureBodyBytes).catch(() => '');
  return failureOf({ status, retryAfter: response.headers['retry-after'], body, nowMs: Date.now() });
}

async function bodyOf(response: IncomingMessage, maxBytes: number): Promise<string> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of bytesOf(response)) {
    parts.push(part);
    size += part.length;
    if (size > maxBytes) break;
  }
  return Buffer.concat(parts).subarray(0, maxBytes).toString('utf8');
}
