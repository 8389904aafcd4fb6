import type { ModelProvider } from '../model/presets.js';
import type { Policy } from './policy.js';

/** A provider as a policy allows it; undefined where it does not. */
export function allowedProvider(
  { providers }: Policy,
  { baseURL, baseURLEnv, apiKeyEnv }: Pick<ModelProvider, ProviderDenial['field']>,
): Policy['providers'][number] | undefined {
  return providers.find(
    (one) => one.baseURL === baseURL && one.baseURLEnv === baseURLEnv && one.apiKeyEnv === apiKeyEnv,
  );
}

/** Why a provider may not be asked, and the field of it that says so. */
export interface ProviderDenial {
  readonly field: 'baseURL' | 'baseURLEnv' | 'apiKeyEnv';
  readonly message: string;
}

/**
 * What a policy has against a provider: its address, or the variable that names it, must stand there together with the
 * variable of its key, so that no key is sent anywhere but where the operator wants it. Undefined where nothing is wrong.
 */
export function providerDenial(
  { providers }: Policy,
  { baseURL, baseURLEnv, apiKeyEnv }: Pick<ModelProvider, ProviderDenial['field']>,
): ProviderDenial | undefined {
  const places = providers.filter((one) => one.baseURL === baseURL && one.baseURLEnv === baseURLEnv);
  if (places.length === 0) {
    return { field: baseURL === undefined ? 'baseURLEnv' : 'baseURL', message: 'no model is called there' };
  }
  if (places.some((one) => one.apiKeyEnv === apiKeyEnv)) return undefined;
  const message =
    apiKeyEnv === undefined ? 'no model is called there without its key' : `${apiKeyEnv} is not the key for it`;
  return { field: 'apiKeyEnv', message };
}
