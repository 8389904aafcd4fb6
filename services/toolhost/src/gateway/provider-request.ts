import { createHash } from 'node:crypto';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { defaultMaxOutputTokens } from '@suzumio/core/budgets/model-cost';
import { shortestTimeoutMs } from '@suzumio/contract/model/models-config';
import { askedModel, type Candidate } from '@suzumio/core/budgets/presets';
import type { SecretSource } from '@suzumio/runtime/process/secret-source';
import { tokensOf } from '@suzumio/protocol/estimated-tokens';
import type { ChatRequest } from '@suzumio/protocol/model-chat';
import type { ProviderRequest } from './ask-provider.js';
import type { AskedAnswers } from './asked-answers.js';
import { chatBody, chatFormat } from './chat.js';
import { minAnswerTokens } from './granted-answer.js';
import { narrowTools } from './narrow-schema.js';
import { responsesBody, responsesFormat } from './responses.js';
import type { ShownImages } from './shown-images.js';
import type { ModelRequest } from './wire.js';

/** A provider's address and credentials. */
export interface Endpoint {
  baseURL: string;
  headers: Record<string, string>;
  /**
   * Identifies the provider in the whole cell: the same address with the same key is the same provider, under any name.
   */
  key: string;
  /** Identifies the model there: one model may be unavailable while others answer. */
  circuit: string;
}

/**
 * Reads a provider's present address and key.
 *
 * @throws SuzumioError `provider-refused`, naming the variable that is not set
 */
export function endpointOf({ provider, settings }: Candidate, secrets: SecretSource): Endpoint {
  const baseURL =
    provider.baseURLEnv === undefined ? (provider.baseURL ?? '') : needed(secrets, provider.baseURLEnv, 'its address');
  if (!URL.canParse(baseURL) || !/^https?:$/.test(new URL(baseURL).protocol)) {
    throw new SuzumioError('provider-refused', 'The address of the provider is no http:// or https:// URL.');
  }
  const apiKey = provider.apiKeyEnv === undefined ? undefined : needed(secrets, provider.apiKeyEnv, 'its key');
  const host = new URL(baseURL).host;
  const address = [baseURL, provider.apiKeyEnv ?? null];
  const model = askedModel(settings);
  const headers = headersOf(provider.headers, settings.headers);
  const circuit = markOf([...address, headers, settings.api ?? null, model]);
  return {
    baseURL,
    headers: { ...headers, ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }) },
    key: `${host}#${markOf(address)}`,
    circuit: `${host}#${circuit}/${model}`,
  };
}

/** A provider's, and a preset's, which replace those of the same name. */
function headersOf(ofProvider: Record<string, string> = {}, ofPreset: Record<string, string> = {}) {
  const headers = new Headers(ofProvider);
  for (const [name, value] of Object.entries(ofPreset)) headers.set(name, value);
  return Object.fromEntries(headers);
}

function markOf(parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 8);
}

/**
 * The deadline of an answer, unless the provider's `timeoutMs` sets another; also the longest silence within a stream.
 */
export const defaultTimeoutMs = 10 * 60_000;
const longestSilenceMs = 2 * 60_000;

interface HowAsked {
  /** Whether a budget counts the cost. */
  budgeted: boolean;
  /** The longest answer that the model grants. */
  maxAnswer?: number;
  /** The images that the messages refer to, and the answers that they repeat. */
  images?: ShownImages;
  answers?: AskedAnswers;
}

/**
 * The request to a candidate: the conversation is the runner's, the model's settings are the preset's.
 *
 * @returns with the longest answer that it asks for
 */
export function providerRequest(
  { settings, provider }: Candidate,
  endpoint: Endpoint,
  request: ChatRequest,
  { budgeted, maxAnswer = Infinity, images, answers }: HowAsked,
): ProviderRequest & { maxTokens: number | undefined } {
  const timeoutMs = Math.max(provider.timeoutMs ?? defaultTimeoutMs, shortestTimeoutMs);
  const asked = request.max_completion_tokens ?? request.max_tokens;
  // Without a limit there is no worst-case cost to check against a budget.
  const bound = settings.maxOutputTokens ?? (budgeted ? defaultMaxOutputTokens : undefined);
  const room = answerRoom(settings.contextLimit, request);
  const messages = answers?.messagesFor(request.messages, endpoint.circuit, settings) ?? request.messages;
  const maxTokens =
    bound === undefined && asked === undefined
      ? undefined
      : Math.min(bound ?? Infinity, asked ?? Infinity, room, maxAnswer);
  const question: ModelRequest = {
    model: askedModel(settings),
    messages: images?.told(messages, settings) ?? messages,
    tools: narrowTools(request.tools ?? []),
    maxTokens,
    settings,
  };
  return {
    baseURL: endpoint.baseURL,
    headers: endpoint.headers,
    timeoutMs,
    silenceMs: Math.min(timeoutMs, provider.chunkTimeoutMs ?? longestSilenceMs),
    images,
    maxTokens,
    ...(settings.api === 'responses'
      ? { format: responsesFormat, body: responsesBody(question) }
      : { format: chatFormat, body: chatBody(question, endpoint.baseURL, provider.streamUsage) }),
  };
}

/** What a context has left for the answer: servers refuse a question that asks for more. */
function answerRoom(contextLimit: number | undefined, { messages, tools = [] }: ChatRequest): number {
  if (contextLimit === undefined) return Infinity;
  // The estimate of a long question is too high, never too low: a sixteenth is left in any case.
  const least = Math.min(contextLimit, Math.max(minAnswerTokens, Math.floor(contextLimit / 16)));
  return Math.max(least, contextLimit - tokensOf({ messages, tools }));
}

function needed(secrets: SecretSource, name: string, what: string): string {
  const value = secrets.read(name);
  if (value !== undefined) {
    if (/^[\x21-\x7e]+$/.test(value)) return value;
    throw new SuzumioError(
      'provider-refused',
      `The variable ${name}, from which the provider needs ${what}, holds blanks or characters that neither may have.`,
      { variable: name },
    );
  }
  throw new SuzumioError(
    'provider-refused',
    `The provider needs ${what} from the variable ${name}, which is not set where the ToolHost runs.`,
    { variable: name },
  );
}
