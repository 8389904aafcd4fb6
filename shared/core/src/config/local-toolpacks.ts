import type { ProjectConfig, TakenToolpack } from '@suzumio/contract/model/project-config';
import type { ToolDefinition } from '@suzumio/protocol/runner';

/** A local toolpack of a project, as it was when the project was made. */
export type ProjectToolpack = TakenToolpack & { readonly id: string };

type WithTools = Pick<ProjectConfig, 'tools'>;

/** The local toolpacks of a project. */
export function localToolpacks({ tools }: WithTools): ProjectToolpack[] {
  return tools.toolpacks.flatMap((pack) => {
    if (typeof pack === 'string' || !('path' in pack) || pack.taken === undefined) return [];
    return [{ id: pack.id, ...pack.taken }];
  });
}

/** The local toolpack that has a tool. */
export function toolpackOf(config: WithTools, tool: string): ProjectToolpack | undefined {
  return localToolpacks(config).find(({ tools }) => tools.some(({ name }) => name === tool));
}

/** The definition of a local toolpack's tool. */
export function localTool(config: WithTools, tool: string): ToolDefinition | undefined {
  return toolpackOf(config, tool)?.tools.find(({ name }) => name === tool);
}

/** What a file says of a project's toolpacks, without what was taken from their directories. */
export function withoutTaken(config: ProjectConfig): ProjectConfig {
  const toolpacks = config.tools.toolpacks.map((pack) =>
    typeof pack === 'object' && 'path' in pack ? { id: pack.id, path: pack.path } : pack,
  );
  return { ...config, tools: { toolpacks } };
}

/** A version of a project's file whose local toolpacks are those that the project has already, where it names them as before. */
export function withTakenOf(current: ProjectConfig, next: ProjectConfig): ProjectConfig {
  const toolpacks = next.tools.toolpacks.map((pack) => {
    if (typeof pack === 'string' || !('path' in pack) || pack.taken !== undefined) return pack;
    const had = current.tools.toolpacks.find((one) => typeof one === 'object' && 'path' in one && one.id === pack.id);
    return had !== undefined && typeof had === 'object' && 'path' in had && had.path === pack.path ? had : pack;
  });
  return { ...next, tools: { toolpacks } };
}
