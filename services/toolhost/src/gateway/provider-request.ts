import { createHash } from 'node:crypto';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { defaultMaxOutputTokens } from '@suzumio/core/budgets/model-cost';
import { shortestTimeoutMs } from '@suzumio/contract/model/models-config';
import { askedModel, type Candidate } from '@suzumio/core/budgets/presets';
import type { SecretSource } from '@suzumio/runtime/process/secret-source';
import type { ChatRequest } from '@suzumio/protocol/model-chat';
import type { ProviderRequest } from './ask-provider.js';
import { chatBody, chatFormat } from './chat.js';
import { responsesBody, responsesFormat } from './responses.js';
import type { ModelRequest } from './wire.js';

/** Where a provider is, and what opens it. */
export interface Endpoint {
  baseURL: string;
  headers: Record<string, string>;
  /** Names the provider in the whole cell: the same place with the same key is the same provider, whatever files call it. */
  key: string;
  /** Names the model there: what is asked in the same way of the same provider. One of them may be away while others answer. */
  circuit: string;
}

/**
 * Reads a provider's address and key, as they are now.
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
  const place = [baseURL, provider.apiKeyEnv ?? null];
  const model = askedModel(settings);
  const circuit = markOf([...place, provider.headers ?? {}, settings.api ?? null, model]);
  return {
    baseURL,
    headers: { ...provider.headers, ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }) },
    key: `${host}#${markOf(place)}`,
    circuit: `${host}#${circuit}/${model}`,
  };
}

function markOf(parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 8);
}

/** An answer may take this long, unless the provider's `timeoutMs` says otherwise, and pause so long once it has begun. */
export const defaultTimeoutMs = 10 * 60_000;
const longestSilenceMs = 2 * 60_000;

/**
 * The request that a candidate gets: the conversation is the runner's, how the model is set the preset's.
 *
 * @param how `place` names calls without an id; `budgeted` whether a budget counts what it costs
 */
export function providerRequest(
  { settings, provider }: Candidate,
  endpoint: Endpoint,
  request: ChatRequest,
  { place, budgeted }: { place: string; budgeted: boolean },
): ProviderRequest {
  const timeoutMs = Math.max(provider.timeoutMs ?? defaultTimeoutMs, shortestTimeoutMs);
  const asked = request.max_completion_tokens ?? request.max_tokens;
  // Without a bound there is no worst case that a budget could be checked against.
  const bound = settings.maxOutputTokens ?? (budgeted ? defaultMaxOutputTokens : undefined);
  const question: ModelRequest = {
    model: askedModel(settings),
    messages: request.messages,
    tools: request.tools ?? [],
    maxTokens: bound === undefined ? asked : Math.min(bound, asked ?? Infinity),
    settings,
  };
  return {
    baseURL: endpoint.baseURL,
    headers: endpoint.headers,
    place,
    timeoutMs,
    silenceMs: Math.min(timeoutMs, longestSilenceMs),
    ...(settings.api === 'responses'
      ? { format: responsesFormat, body: responsesBody(question) }
      : { format: chatFormat, body: chatBody(question, endpoint.baseURL, provider.streamUsage) }),
  };
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
