import { isLoopback } from '@suzumio/runtime/http/request-source';
import type { ProviderPair } from './provider-pair.js';

/** The variable in which each provider says that its key is kept, by the provider's host. */
const keysOf: Readonly<Record<string, string>> = {
  'api.anthropic.com': 'ANTHROPIC_API_KEY',
  'api.deepseek.com': 'DEEPSEEK_API_KEY',
  'api.groq.com': 'GROQ_API_KEY',
  'api.mistral.ai': 'MISTRAL_API_KEY',
  'api.openai.com': 'OPENAI_API_KEY',
  'api.together.xyz': 'TOGETHER_API_KEY',
  'api.x.ai': 'XAI_API_KEY',
  'generativelanguage.googleapis.com': 'GEMINI_API_KEY',
  'openrouter.ai': 'OPENROUTER_API_KEY',
};

/**
 * Whether a provider needs no question, because nothing gets anywhere that it is not meant for: a well-known provider
 * with the key that is its own, or a server of this machine without any key. An address with anything but a plain path
 * is asked for: it could make a request to a model one to something else.
 */
export function isExpected({ baseURL, apiKeyEnv }: ProviderPair): boolean {
  const url = baseURL === undefined || !URL.canParse(baseURL) ? undefined : new URL(baseURL);
  if (url === undefined || url.username !== '' || url.password !== '' || !isPlain(baseURL ?? '')) return false;
  if (apiKeyEnv === undefined) return /^https?:$/.test(url.protocol) && isLoopback(url.hostname);
  return url.protocol === 'https:' && url.port === '' && keyOf(url.hostname) === apiKeyEnv;
}

function keyOf(host: string): string | undefined {
  return Object.hasOwn(keysOf, host) ? keysOf[host] : undefined;
}

function isPlain(address: string): boolean {
  return /^https?:\/\/[\w.:[\]-]+(\/[\w.-]+)*\/?$/i.test(address);
}
