import type { FileConfig } from '@suzumio/contract/model/project-config';
import { type ConfigPath, mapScalars } from './config-node.js';
import { ProblemList } from './config-problem.js';
import { fullBudget, readYaml } from './yaml-reader.js';

/** Replaces the value of a variable where a project's file is stored or shown. */
export const hiddenValue = '(hidden)';

/** One variable of an agent's containers. */
export interface AgentVariable {
  agent: string;
  name: string;
  value: string;
}

/** All variables of a project's agents. */
export function agentVariables(config: FileConfig): AgentVariable[] {
  return Object.entries(config.agents).flatMap(([agent, { env = {} }]) =>
    Object.entries(env).map(([name, value]) => ({ agent, name, value })),
  );
}

/** A project without the values of its agents' variables: any of them may be a secret. */
export function withoutEnvValues<Config extends FileConfig>(config: Config): Config {
  const agents = Object.fromEntries(
    Object.entries(config.agents).map(([id, agent]) => {
      if (agent.env === undefined) return [id, agent];
      return [id, { ...agent, env: namesOf(agent.env) }];
    }),
  );
  return { ...config, agents };
}

/**
 * A project as it is shown: also without the values of headers of model providers and presets, and of what servers of tools are
 * given. What is stored keeps those, since calls need them.
 */
export function withoutSecretValues<Config extends FileConfig>(config: Config): Config {
  const shown = withoutEnvValues(config);
  const { runner } = shown.backend;
  const { models } = runner;
  const toolpacks = shown.tools.toolpacks.map((pack) =>
    typeof pack !== 'string' && 'mcp' in pack ? { ...pack, mcp: hiding(pack.mcp, 'env', 'headers') } : pack,
  );
  return {
    ...shown,
    tools: { ...shown.tools, toolpacks },
    backend: models
      ? {
          ...shown.backend,
          runner: {
            ...runner,
            models: { providers: hidingHeaders(models.providers), presets: hidingHeaders(models.presets) },
          },
        }
      : shown.backend,
  };
}

function hidingHeaders<Holders extends Record<string, object>>(holders: Holders): Holders {
  return Object.fromEntries(Object.entries(holders).map(([id, one]) => [id, hiding(one, 'headers')])) as Holders;
}

/** The same without the values in fields that hold some by name. */
function hiding<Holder extends object>(holder: Holder, ...fields: string[]): Holder {
  return Object.fromEntries(
    Object.entries(holder).map(([field, values]: [string, unknown]) => [
      field,
      fields.includes(field) && typeof values === 'object' && values !== null ? namesOf(values) : values,
    ]),
  ) as Holder;
}

/** The names of some values, each with {@link hiddenValue}. */
function namesOf(values: object): Record<string, string> {
  return Object.fromEntries(Object.keys(values).map((name) => [name, hiddenValue]));
}

/** Whether a field of a project file is the value of a variable of an agent, or of a server of tools. */
export function isEnvValue(path: ConfigPath): boolean {
  const field = path.filter((segment) => typeof segment === 'string' && segment !== 'extends');
  const ofAgent = field.length === 4 && field[0] === 'agents' && field[2] === 'env';
  const ofToolpack = field.length === 5 && field.slice(0, 4).join('.') === 'tools.toolpacks.mcp.env';
  return ofAgent || ofToolpack;
}

/** Whether a field is the value of a header, of a model provider, a preset or a server of tools. */
function isHeaderValue(path: ConfigPath): boolean {
  const field = path.filter((segment) => typeof segment === 'string' && segment !== 'extends');
  const ofModel =
    field.length === 7 && /^backend\.runner\.models\.(providers|presets)$/.test(field.slice(0, 4).join('.'));
  const ofToolpack = field.length === 5 && field.slice(0, 3).join('.') === 'tools.toolpacks.mcp';
  return field.at(-2) === 'headers' && (ofModel || ofToolpack);
}

/** A file's text without those values; references to other variables (`${NAME}`) stay. */
export function withoutEnvTexts(source: string): string {
  return withoutTexts(source, isEnvValue);
}

/** A stored file's text as it is shown: also without the values that {@link withoutSecretValues} hides. */
export function withoutSecretTexts(source: string): string {
  return withoutTexts(source, (path) => isEnvValue(path) || isHeaderValue(path));
}

function withoutTexts(source: string, isSecret: (path: ConfigPath) => boolean): string {
  const lineStarts = [0, ...[...source.matchAll(/\n/g)].map(({ index }) => index + 1)];
  /** By offset: a value shared through an anchor appears several times in the tree. */
  const hidden = new Map<number, string>();
  const problems = new ProblemList();
  const tree = readYaml(source, '', problems, fullBudget());
  // What cannot be read is not known to hold none.
  if (!problems.isEmpty) throw problems.toError();
  mapScalars(tree, (scalar, path) => {
    const { place, source: written, value } = scalar;
    if (written !== '' && isSecret(path) && !isReference(value)) {
      hidden.set((lineStarts[place.line - 1] ?? 0) + place.column - 1, written);
    }
    return scalar;
  });
  const last = [...hidden].sort(([one], [other]) => other - one);
  return last.reduce(
    (text, [at, written]) => text.slice(0, at) + inPlaceOf(written) + text.slice(at + written.length),
    source,
  );
}

/** Keeps the value's quotes, and the line break that ends a block. */
function inPlaceOf(written: string): string {
  const quote = /^["']/.exec(written)?.[0] ?? '';
  return `${quote}${hiddenValue}${quote}${/\s*$/.exec(written)?.[0] ?? ''}`;
}

function isReference(value: unknown): boolean {
  return typeof value === 'string' && /^\$\{[A-Za-z_]\w*\}$/.test(value);
}
