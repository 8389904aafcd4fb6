import type { FileConfig } from '@suzumio/contract/model/project-config';
import type { Policy } from '@suzumio/core/policy/policy';
import { oneLine } from '@suzumio/core/prompt/body';

/** An address of models, or the variable that names it, together with the variable whose key is sent there. */
export type ProviderPair = Policy['providers'][number];

/** The providers that a project file names, each once, with the name that it first has there. */
export function pairsOf({ backend }: FileConfig): Map<string, ProviderPair> {
  const pairs = new Map<string, ProviderPair>();
  for (const [id, { baseURL, baseURLEnv, apiKeyEnv }] of Object.entries(backend.runner.models?.providers ?? {})) {
    const pair = {
      ...(baseURL === undefined ? {} : { baseURL }),
      ...(baseURLEnv === undefined ? {} : { baseURLEnv }),
      ...(apiKeyEnv === undefined ? {} : { apiKeyEnv }),
    };
    if (![...pairs.values()].some((other) => isSamePair(pair, other))) pairs.set(id, pair);
  }
  return pairs;
}

export function isSamePair(a: ProviderPair, b: ProviderPair): boolean {
  return a.baseURL === b.baseURL && a.baseURLEnv === b.baseURLEnv && a.apiKeyEnv === b.apiKeyEnv;
}

/** A provider as people read it. Their logs keep what they read: a password and a query of its address stay out. */
export function describePair({ baseURL, baseURLEnv, apiKeyEnv }: ProviderPair): string {
  const place = oneLine(baseURL === undefined ? `$${baseURLEnv ?? ''}` : withoutSecrets(baseURL));
  return apiKeyEnv === undefined ? `${place}, without a key` : `${place}, with the key in ${apiKeyEnv}`;
}

function withoutSecrets(address: string): string {
  // Where a password ends is unknown in what is no URL.
  const credentials = URL.canParse(address) ? /^([^/]*\/\/)?[^/?#]*@/ : /^([^/]*\/\/)?.*@/s;
  return address.replace(credentials, '$1***@').replace(/\?.*$/s, '?…');
}

/** A provider as a command's option names it: `ADDRESS`, `ADDRESS=KEY`, `env:NAME` or `env:NAME=KEY`. */
export function wordOf({ baseURL, baseURLEnv, apiKeyEnv }: ProviderPair): string {
  const place = baseURL ?? `env:${baseURLEnv ?? ''}`;
  return apiKeyEnv === undefined ? place : `${place}=${apiKeyEnv}`;
}

/** Reads {@link wordOf}; what stands after the last `=` is a key only where it may be the name of a variable. */
export function pairOfWord(word: string): ProviderPair {
  const [, place = word, apiKeyEnv] = /^(.+)=([A-Za-z_]\w*)$/.exec(word) ?? [];
  const named = /^env:([A-Za-z_]\w*)$/.exec(place)?.[1];
  return {
    ...(named === undefined ? { baseURL: place } : { baseURLEnv: named }),
    ...(apiKeyEnv === undefined ? {} : { apiKeyEnv }),
  };
}
