import { toolAliases, toolpackTools } from '../protocol/tool-names.js';
import { childOf, type ConfigNode, entriesOf, itemsOf, textOf } from './config-node.js';
import type { ProblemList } from './config-problem.js';
import { suggest } from './suggest.js';

/** Checks that every agent's allowlist names tools, namespaces or `*` of the toolpacks that the file lists. */
export function checkTools(root: ConfigNode, problems: ProblemList): void {
  const packs = itemsOf(childOf(childOf(root, 'tools'), 'toolpacks'));
  const listed = new Set(['core', ...packs.map((pack) => textOf(pack) ?? '')]);
  // Toolpacks from elsewhere bring tools whose names are not known yet; they are in the pack's own namespace.
  const foreign = packs.flatMap((pack) => textOf(childOf(pack, 'id')) ?? []);
  const known: string[] = [...toolAliases.keys()];
  const unlisted = new Map<string, string>();
  for (const [pack, tools] of Object.entries(toolpackTools)) {
    if (listed.has(pack)) known.push(...tools);
    else for (const tool of tools) unlisted.set(tool, pack);
  }
  for (const [agent, entry] of entriesOf(childOf(root, 'agents'))) {
    for (const node of itemsOf(childOf(entry.value, 'tools'))) {
      const name = textOf(node);
      if (name === undefined || name === '*' || foreign.some((id) => name.startsWith(`${id}.`))) continue;
      const matches = (tool: string) => (name.endsWith('.*') ? tool.startsWith(name.slice(0, -1)) : tool === name);
      if (known.some(matches)) continue;
      const pack = [...unlisted].find(([tool]) => matches(tool))?.[1];
      if (pack !== undefined) {
        const message = `${name} for agent ${agent} is in the toolpack ${pack}: add ${pack} to tools.toolpacks`;
        problems.add('toolpack-missing', node.place, message);
        continue;
      }
      problems.add('tool-unknown', node.place, () => {
        const patterns = [...new Set(known.map((tool) => tool.replace(/[^.]*$/, '*')))];
        const meant = suggest(name, [...known, ...patterns]);
        const hint = meant === undefined ? `known are ${known.join(', ')}` : `did you mean ${meant}?`;
        return `unknown tool "${name}" for agent ${agent}: ${hint}`;
      });
    }
  }
}
