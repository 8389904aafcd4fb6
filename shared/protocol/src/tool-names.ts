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
  shell: ['shell.exec'],
  web: ['web.fetch'],
  files: ['file.read', 'file.write', 'file.patch'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

/** The toolpacks that this version can execute. */
export const servedToolpacks: readonly string[] = ['core'];

export type BuiltInToolpack = keyof typeof toolpackTools;

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
