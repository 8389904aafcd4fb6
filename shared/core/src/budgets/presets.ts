import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { ModelsConfig } from '@suzumio/contract/model/models-config';
import type { ProjectConfig } from '@suzumio/contract/model/project-config';
import { seesImages } from './known-vision.js';

type Preset = ModelsConfig['presets'][string];
export type SinglePreset = Exclude<Preset, { 'model-list': string[] }>;
export type ModelProvider = ModelsConfig['providers'][string];

/** One model that may be called: its settings and its provider. */
export interface Candidate {
  readonly preset: string;
  readonly settings: SinglePreset;
  readonly provider: ModelProvider;
}

/** The part of a project's config that names the models of its agents. */
interface AgentModels {
  readonly backend: { readonly runner: Pick<ProjectConfig['backend']['runner'], 'model' | 'models'> };
  readonly agents: Readonly<Record<string, { readonly model?: string | undefined }>>;
}

/** The provider's name of a model. */
export function askedModel({ apiModel, model }: Pick<SinglePreset, 'apiModel' | 'model'>): string {
  return apiModel ?? model;
}

/**
 * The candidates for an agent's calls, in the order in which they are tried.
 *
 * @param asked a preset that the runner names: the agent's own, or one in its list
 * @throws SuzumioError `preset-unknown`
 */
export function candidatesFor(config: AgentModels, agent: string, asked?: string): Candidate[] {
  const own = presetOf(config, agent);
  const models = config.backend.runner.models;
  if (own === undefined || models === undefined) {
    throw new SuzumioError('preset-unknown', `Agent ${agent} has no model: name a preset in backend.runner.model.`);
  }
  const named = presetsFor(config, agent);
  if (asked !== undefined && asked !== 'default' && !named.includes(asked)) {
    const known = named.join(', ');
    throw new SuzumioError(
      'preset-unknown',
      `Agent ${agent} may not use the preset "${asked.slice(0, 60)}", but ${known}.`,
    );
  }
  return flatten(models, asked === undefined || asked === 'default' ? own : asked);
}

/** The presets that an agent's runner may name: the agent's own first, then those in its list. */
export function presetsFor(config: AgentModels, agent: string): string[] {
  const own = presetOf(config, agent);
  const { models } = config.backend.runner;
  return own === undefined || models === undefined ? [] : [...reachable(models, own)];
}

/** The preset of an agent: its own, else the project's. */
export function presetOf(config: AgentModels, agent: string): string | undefined {
  return config.agents[agent]?.model ?? config.backend.runner.model;
}

/** The smallest context of an agent's models, in tokens. */
export function contextLimitOf(config: ProjectConfig, agent: string): number {
  const limits = candidatesFor(config, agent).map(({ settings }) => settings.contextLimit ?? defaultContextLimit);
  return Math.min(...limits);
}

/** The context of a preset that sets none: nearly all models have it. */
export const defaultContextLimit = 32_000;

/** Those of an agent's presets that see no images. An agent sees if each of its models does: any of them may be asked. */
export function blindPresets(config: ProjectConfig, agent: string): string[] {
  return candidatesFor(config, agent).flatMap(({ preset, settings }) => (seesImages(settings) ? [] : [preset]));
}

/** Lists may contain lists; the loader refuses cycles. */
function flatten(models: ModelsConfig, id: string): Candidate[] {
  const preset = models.presets[id];
  if (preset === undefined) return [];
  if ('model-list' in preset) {
    const all = preset['model-list'].flatMap((next) => flatten(models, next));
    return all.filter((one, index) => all.findIndex((other) => other.preset === one.preset) === index);
  }
  const provider = models.providers[preset.provider];
  return provider === undefined ? [] : [{ preset: id, settings: preset, provider }];
}

function reachable(models: ModelsConfig, id: string): Set<string> {
  const found = new Set([id]);
  for (const next of found) {
    const preset = models.presets[next];
    if (preset !== undefined && 'model-list' in preset) for (const listed of preset['model-list']) found.add(listed);
  }
  return found;
}
