import type { AgentConfig, ProjectConfig } from '@suzumio/contract/model/project-config';
import { hiddenValue } from './agent-env.js';

type Values = Readonly<Record<string, string>>;
type Models = NonNullable<ProjectConfig['backend']['runner']['models']>;

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
  const withHeaders = <One extends object>(kind: keyof Models, holders: Record<string, One>) =>
    Object.fromEntries(
      Object.entries(holders).map(([id, holder]): [string, One] => {
        const headers = headersIn(holder);
        return [id, headers === undefined ? holder : { ...holder, headers: filled(headersPath(kind, id), headers) }];
      }),
    );
  const runner = {
    ...config.backend.runner,
    ...(models && {
      models: {
        providers: withHeaders('providers', models.providers),
        presets: withHeaders('presets', models.presets),
      },
    }),
  };
  return { ...config, agents: Object.fromEntries(agents), backend: { ...config.backend, runner } };
}

function hideable({ agents, backend }: ProjectConfig): Hideable[] {
  const all = (path: string, values: Values = {}): Hideable[] =>
    Object.entries(values).map(([name, value]) => ({ field: `${path}.${name}`, value }));
  return [
    ...Object.entries(agents).flatMap(([id, { env }]) => all(envPath(id), env)),
    ...(['providers', 'presets'] as const).flatMap((kind) => {
      const holders: Readonly<Record<string, object>> = backend.runner.models?.[kind] ?? {};
      return Object.entries(holders).flatMap(([id, holder]) => all(headersPath(kind, id), headersIn(holder)));
    }),
  ];
}

const envPath = (agent: string) => `agents.${agent}.env`;
const headersPath = (kind: keyof Models, id: string) => `backend.runner.models.${kind}.${id}.headers`;

/** A preset that is a list has none. */
function headersIn(holder: object): Values | undefined {
  return 'headers' in holder ? (holder.headers as Values) : undefined;
}
