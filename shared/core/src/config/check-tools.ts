import { isServedToolpack, toolAliases, toolpackTools } from '@suzumio/protocol/tool-names';
import { childOf, type ConfigNode, entriesOf, itemsOf, textOf } from './config-node.js';
import type { ProblemList } from './config-problem.js';
import { suggest } from '@suzumio/contract/errors/suggest';

/** The tools of a file's toolpacks. */
interface KnownTools {
  readonly known: readonly string[];
  /** Tools of toolpacks that the file does not list, by tool. */
  readonly unlisted: ReadonlyMap<string, string>;
  /** Whether there are others, of toolpacks that were not read. */
  readonly hasOthers: boolean;
}

function toolsOf(root: ConfigNode, offered: readonly string[] | undefined): KnownTools {
  const packs = itemsOf(childOf(childOf(root, 'tools'), 'toolpacks'));
  const listed = new Set(['core', ...packs.map((pack) => textOf(pack) ?? '')]);
  const known: string[] = [...toolAliases.keys()];
  const unlisted = new Map<string, string>();
  for (const [pack, tools] of Object.entries(toolpackTools)) {
    if (listed.has(pack)) known.push(...tools);
    else for (const tool of tools) unlisted.set(tool, pack);
  }
  const isUnread = (pack: ConfigNode) =>
    pack.kind === 'broken' ||
    childOf(pack, 'mcp') !== undefined ||
    (offered === undefined && childOf(pack, 'path') !== undefined);
  return { known: [...known, ...(offered ?? [])], unlisted, hasOthers: packs.some(isUnread) };
}

/**
 * Checks that every agent's allowlist names tools, namespaces or `*` of the toolpacks that the file lists.
 *
 * @param offered the tools of its local toolpacks, where these were read
 */
export function checkTools(root: ConfigNode, problems: ProblemList, offered?: readonly string[]): void {
  const tools = toolsOf(root, offered);
  for (const [agent, entry] of entriesOf(childOf(root, 'agents'))) {
    for (const node of itemsOf(childOf(entry.value, 'tools'))) {
      if (textOf(node) !== '*') checkTool(node, `agent ${agent}`, tools, problems);
    }
  }
}

/** Checks that the steps of a mock script call existing tools, except steps that expect an error. */
export function checkScriptTools(root: ConfigNode, problems: ProblemList, offered?: readonly string[]): void {
  const tools = toolsOf(root, offered);
  for (const rule of itemsOf(childOf(childOf(childOf(root, 'backend'), 'runner'), 'script'))) {
    for (const step of itemsOf(childOf(rule, 'steps'))) {
      const node = childOf(step, 'tool');
      if (node === undefined || childOf(step, 'expectError') !== undefined) continue;
      checkTool(node, 'a step', tools, problems);
    }
  }
}

function checkTool(
  node: ConfigNode,
  whose: string,
  { known, unlisted, hasOthers }: KnownTools,
  problems: ProblemList,
): void {
  const name = textOf(node);
  if (name === undefined || name.includes('{{')) return;
  const matches = (tool: string) => (name.endsWith('.*') ? tool.startsWith(name.slice(0, -1)) : tool === name);
  if (known.some(matches)) return;
  const pack = [...unlisted].find(([tool]) => matches(tool))?.[1];
  if (pack !== undefined) {
    const advice = isServedToolpack(pack)
      ? `the project has to list it, as in "tools: { toolpacks: [${pack}] }"`
      : 'it is not served yet';
    problems.add('toolpack-missing', node.place, `${name} for ${whose} is in the toolpack ${pack}: ${advice}`);
    return;
  }
  if (hasOthers) return;
  problems.add('tool-unknown', node.place, () => {
    const patterns = [...new Set(known.map((tool) => tool.replace(/[^.]*$/, '*')))];
    const meant = suggest(name, [...known, ...patterns, ...unlisted.keys()]);
    const hint = meant === undefined ? `known are ${known.join(', ')}` : `did you mean ${meant}?`;
    return `unknown tool "${name}" for ${whose}: ${hint}`;
  });
}
