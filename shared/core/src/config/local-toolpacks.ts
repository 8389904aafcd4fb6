import type { ProjectConfig, TakenToolpack } from '@suzumio/contract/model/project-config';
import type { ToolDefinition } from '@suzumio/protocol/runner';

/** A local toolpack of a project, as it was when a version of its file was applied. */
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
