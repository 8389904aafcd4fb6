/** Names of the tools in the `core` toolpack. */
export const coreToolNames = [
  'messages.send',
  'messages.read',
  'messages.reply',
  'messages.broadcast',
  'tasks.assign',
  'tasks.list',
  'artifacts.publish',
  'artifacts.list',
  'artifacts.read',
  'completion.submit',
  'coordination.wait_for_signal',
] as const;

export type CoreToolName = (typeof coreToolNames)[number];

/** Older names that are still accepted, and their tools. */
export const toolAliases: ReadonlyMap<string, CoreToolName> = new Map([
  ['coordination.no_valuable_work', 'coordination.wait_for_signal'],
]);

/** The tools of the packs that come with Suzumio, by the pack's name in `tools.toolpacks`. */
export const toolpackTools = {
  core: coreToolNames,
  memory: ['memory.note', 'memory.search', 'memory.list', 'memory.forget'],
  files: ['file.read', 'file.write', 'file.patch', 'file.apply', 'file.list', 'file.search'],
  shell: ['shell.exec', 'shell.read', 'shell.stop'],
  workspace: ['workspace.git.refresh'],
  web: ['web.fetch'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

/** The packs whose tools run in the ToolHost: an agent whose turns a handler runs may have them, too. */
export const hostToolpacks = ['core', 'memory'] as const satisfies readonly BuiltInToolpack[];
export type HostToolName = (typeof toolpackTools)[(typeof hostToolpacks)[number]][number];

/** The packs whose tools run in a turn's sandbox. */
export const sandboxToolpacks = ['files', 'shell', 'workspace'] as const satisfies readonly BuiltInToolpack[];
export type SandboxToolName = (typeof toolpackTools)[(typeof sandboxToolpacks)[number]][number];

const sandboxToolNames = sandboxToolpacks.flatMap((pack): readonly SandboxToolName[] => toolpackTools[pack]);

export function isSandboxTool(name: string): name is SandboxToolName {
  return (sandboxToolNames as readonly string[]).includes(name);
}

/** The pack of a tool that this version executes; undefined where there is no such tool. */
export function packOf(tool: string): (typeof servedToolpacks)[number] | undefined {
  return servedToolpacks.find((pack) => (toolpackTools[pack] as readonly string[]).includes(tool));
}

/** The packs of some tools that run in the sandbox: what carries them out has to have them. */
export function sandboxPacksOf(tools: readonly string[]): string[] {
  return sandboxToolpacks.filter((pack) =>
    tools.some((tool) => (toolpackTools[pack] as readonly string[]).includes(tool)),
  );
}

/** The toolpacks that this version can execute. */
export const servedToolpacks = [...hostToolpacks, ...sandboxToolpacks] as const satisfies readonly BuiltInToolpack[];

/** Stands among the toolpacks that an image's runner carries out, where it loads the modules of local ones. */
export const localPack = 'local';

export function isServedToolpack(pack: unknown): pack is (typeof servedToolpacks)[number] {
  return (servedToolpacks as readonly unknown[]).includes(pack);
}

/** A tool that this version executes. */
export type ServedToolName = (typeof toolpackTools)[(typeof servedToolpacks)[number]][number];

/** The tools that look at the sandbox and change nothing there. */
export const readingTools = [
  'file.read',
  'file.list',
  'file.search',
  'shell.read',
] as const satisfies readonly ServedToolName[];

/**
 * The tools of a project's packs, in an order of their own. A wildcard in its agents' allowlists stands for these: it does not come
 * to mean more when a later version has more packs.
 */
export function toolsOfPacks(packs: readonly unknown[]): ServedToolName[] {
  return servedToolpacks.filter((pack) => packs.includes(pack)).flatMap((pack) => toolpackTools[pack]);
}

export type BuiltInToolpack = keyof typeof toolpackTools;

export function isBuiltInToolpack(pack: string): pack is BuiltInToolpack {
  return Object.hasOwn(toolpackTools, pack);
}

/** Every tool that comes with Suzumio, or is to come, with older names. */
export const builtInTools: readonly string[] = [...Object.values(toolpackTools).flat(), ...toolAliases.keys()];

/** The name under which a tool is executed and recorded. */
export function canonicalToolName(name: string): string {
  return toolAliases.get(name) ?? name;
}

/** Whether an allowlist admits a tool. A pattern is a name (or an older one), `namespace.*` or `*`. */
export function allowsTool(patterns: readonly string[], name: string): boolean {
  const tool = canonicalToolName(name);
  return patterns.some((pattern) => {
    if (pattern === '*') return true;
    if (pattern.endsWith('.*')) return tool.startsWith(pattern.slice(0, -1));
    return canonicalToolName(pattern) === tool;
  });
}

/** The tools of `available` that an allowlist admits, in the order of `available`. */
export function admittedTools<Name extends string>(patterns: readonly string[], available: readonly Name[]): Name[] {
  return available.filter((name) => allowsTool(patterns, name));
}
