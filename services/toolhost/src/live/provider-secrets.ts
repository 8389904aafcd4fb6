import type { ProjectConfig } from '@suzumio/contract/model/project-config';
import type { SecretSource } from '@suzumio/runtime/process/secret-source';
import { secretsOf } from '../gateway/redacted-failure.js';

const nowhere = 'http://nowhere';

/** What opens the providers of a project, in each form in which it may be said. Variables that are not set hold none. */
export function providerSecrets({ backend }: ProjectConfig, secrets: SecretSource): string[] {
  const read = (name: string | undefined) => (name === undefined ? undefined : secrets.read(name));
  const { providers = {}, presets = {} } = backend.runner.models ?? {};
  const ofPresets = Object.values(presets).flatMap((preset) =>
    'headers' in preset ? secretsOf({ baseURL: nowhere, headers: preset.headers ?? {} }) : [],
  );
  const ofProviders = Object.values(providers).flatMap(({ baseURL, baseURLEnv, apiKeyEnv, headers }) => {
    const address = read(baseURLEnv) ?? baseURL ?? '';
    const key = read(apiKeyEnv);
    return secretsOf({
      baseURL: URL.canParse(address) ? address : nowhere,
      headers: { ...headers, ...(key === undefined ? {} : { authorization: `Bearer ${key}` }) },
    });
  });
  return [...ofProviders, ...ofPresets];
}
