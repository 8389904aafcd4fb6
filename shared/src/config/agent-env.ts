import { isAlias, isMap, isPair, isScalar, type Node, parseDocument, visit } from 'yaml';
import type { FileConfig } from '../model/project-config.js';

/** What stands in the place of the value of a variable, wherever a project's file is kept or shown. */
export const hiddenValue = '(hidden)';

/** One variable of an agent's containers. */
export interface AgentVariable {
  agent: string;
  name: string;
  value: string;
}

/** Every variable that a project's agents are given. */
export function agentVariables(config: FileConfig): AgentVariable[] {
  return Object.entries(config.agents).flatMap(([agent, { env = {} }]) =>
    Object.entries(env).map(([name, value]) => ({ agent, name, value })),
  );
}

/** A project without the values of its agents' variables: which of them are secrets, nobody says. */
export function withoutEnvValues<Config extends FileConfig>(config: Config): Config {
  const agents = Object.fromEntries(
    Object.entries(config.agents).map(([id, agent]) => {
      if (agent.env === undefined) return [id, agent];
      const names = Object.keys(agent.env).map((name) => [name, hiddenValue]);
      return [id, { ...agent, env: Object.fromEntries(names) as Record<string, string> }];
    }),
  );
  return { ...config, agents };
}

/** A file as it was written, without those values: names of other variables (`${NAME}`) stay. */
export function withoutEnvTexts(source: string): string {
  const document = parseDocument(source);
  const agents = document.get('agents', true);
  let hidden = 0;
  const hide = (node: unknown): void => {
    const value = isAlias(node) ? node.resolve(document) : node;
    if (isMap(value)) for (const pair of value.items) hide(pair.value);
    else if (isScalar(value) && !isReference(value.value)) {
      value.value = hiddenValue;
      delete value.source;
      hidden += 1;
    }
  };
  if (agents !== undefined) {
    visit(agents as Node, {
      Pair: (_key, pair) => {
        if (isPair(pair) && isScalar(pair.key) && pair.key.value === 'env') hide(pair.value);
      },
      Alias: (_key, alias) => {
        const shared = alias.resolve(document);
        if (isMap(shared)) hide(shared.get('env', true));
      },
    });
  }
  return hidden > 0 ? document.toString({ lineWidth: 0 }) : source;
}

function isReference(value: unknown): boolean {
  return typeof value === 'string' && /^\$\{[A-Za-z_]\w*\}$/.test(value);
}
