import type { ModelPrice } from '@suzumio/contract/model/models-config';
import { askedModel, type Candidate, type ModelProvider } from '../budgets/presets.js';
import { matchesAny, type Policy } from './policy.js';

/** A provider as a policy allows it; undefined where it does not. */
export function allowedProvider(
  { providers }: Policy,
  { baseURL, baseURLEnv, apiKeyEnv }: Pick<ModelProvider, ProviderDenial['field']>,
): Policy['providers'][number] | undefined {
  return providers.find(
    (one) => one.baseURL === baseURL && one.baseURLEnv === baseURLEnv && one.apiKeyEnv === apiKeyEnv,
  );
}

/** Why a provider is not allowed, and its field that is. */
export interface ProviderDenial {
  readonly field: 'baseURL' | 'baseURLEnv' | 'apiKeyEnv';
  readonly message: string;
}

/**
 * Why a policy does not allow a provider: its address, or the variable that names it, must be listed together with its
 * key's variable, so that keys are only sent where the operator wants them. Undefined where it is allowed.
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

type Asked = Pick<Candidate, 'settings' | 'provider'>;

/** Why a model of an allowed provider is not allowed; undefined where it is. */
export function modelDenial(policy: Policy, asked: Asked): string | undefined {
  if (!allowedProvider(policy, asked.provider)?.models || listedModel(policy, asked)) return undefined;
  return `the model ${askedModel(asked.settings)} is not among those that are asked there`;
}

/**
 * The price that a model's costs are computed with: of each kind of tokens the higher of the policy's and the project's.
 * A project cannot lower what the policy does not name: that is the policy's `input`.
 *
 * @param dayBudget whether the price counts for the operator's budget for a day: a project's own price is ignored then,
 *   unless the policy says otherwise
 * @returns undefined where there is no price
 */
export function countedPrice(
  policy: Policy,
  asked: Asked,
  { dayBudget }: { dayBudget: boolean },
): ModelPrice | undefined {
  const { price: own } = asked.settings;
  const price = listedModel(policy, asked)?.price;
  if (price === undefined) {
    const believed = !dayBudget || allowedProvider(policy, asked.provider)?.ownPrices === true;
    return believed ? own : undefined;
  }
  const { input, output, cached = input, cacheWrite = input } = price;
  return {
    input: Math.max(input, own?.input ?? 0),
    cached: Math.max(cached, own?.cached ?? 0),
    cacheWrite: Math.max(cacheWrite, own?.cacheWrite ?? 0),
    output: Math.max(output, own?.output ?? 0),
  };
}

/** Why a model has no price for the operator's budget for a day, and what would give it one. */
export function priceDenial(policy: Policy, asked: Asked): string | undefined {
  if (countedPrice(policy, asked, { dayBudget: true })) return undefined;
  const model = askedModel(asked.settings);
  return allowedProvider(policy, asked.provider)?.ownPrices === true
    ? `${model} has no price, and there is a budget of the day: give the preset price: { input, output }, 0 where it costs nothing`
    : `the policy gives ${model} no price, and there is a budget of the day: name it in models of its provider, with a price, or believe projects with ownPrices: true`;
}

function listedModel(policy: Policy, { settings, provider }: Asked) {
  return allowedProvider(policy, provider)?.models?.find(({ name }) => matchesAny([name], askedModel(settings)));
}
