import type { AgentConfig, ProjectConfig } from '@suzumio/contract/model/project-config';
import { hiddenValue } from './agent-env.js';

type Values = Readonly<Record<string, string>>;
type Provider = NonNullable<ProjectConfig['backend']['runner']['models']>['providers'][string];

/** Values of a file that are not shown, with their fields. */
interface Hideable {
  readonly field: string;
  readonly value: string;
}

/** The fields of a file that say {@link hiddenValue}: it stands for a value that was not shown. */
export function hiddenFields(config: ProjectConfig): string[] {
  return hideable(config)
    .filter(({ value }) => value === hiddenValue)
    .map(({ field }) => field);
}

/** A file in which each field that says {@link hiddenValue} has the value that it has in another, where it has one there. */
export function withValuesOf(known: ProjectConfig, config: ProjectConfig): ProjectConfig {
  const values = new Map(hideable(known).map(({ field, value }) => [field, value]));
  const filled = (path: string, given: Values): Values =>
    Object.fromEntries(
      Object.entries(given).map(([name, value]) => [
        name,
        value === hiddenValue ? (values.get(`${path}.${name}`) ?? value) : value,
      ]),
    );
  const agents = Object.entries(config.agents).map(([id, agent]): [string, AgentConfig] => [
    id,
    agent.env === undefined ? agent : { ...agent, env: filled(envPath(id), agent.env) },
  ]);
  const { models } = config.backend.runner;
  const providers = Object.entries(models?.providers ?? {}).map(([id, provider]): [string, Provider] => [
    id,
    provider.headers === undefined ? provider : { ...provider, headers: filled(headersPath(id), provider.headers) },
  ]);
  const runner = {
    ...config.backend.runner,
    ...(models && { models: { ...models, providers: Object.fromEntries(providers) } }),
  };
  return { ...config, agents: Object.fromEntries(agents), backend: { ...config.backend, runner } };
}

function hideable({ agents, backend }: ProjectConfig): Hideable[] {
  const all = (path: string, values: Values = {}): Hideable[] =>
    Object.entries(values).map(([name, value]) => ({ field: `${path}.${name}`, value }));
  return [
    ...Object.entries(agents).flatMap(([id, { env }]) => all(envPath(id), env)),
    ...Object.entries(backend.runner.models?.providers ?? {}).flatMap(([id, { headers }]) =>
      all(headersPath(id), headers),
    ),
  ];
}

const envPath = (agent: string) => `agents.${agent}.env`;
const headersPath = (provider: string) => `backend.runner.models.providers.${provider}.headers`;
