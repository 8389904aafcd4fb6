import { USER_ID } from '@suzumio/contract/model/project-config';
import { idsOfEntry } from './agent-ids.js';
import { checkModels } from './check-models.js';
import { checkScriptTools, checkTools } from './check-tools.js';
import { childOf, type ConfigNode, entriesOf, itemsOf, textOf, toPlain } from './config-node.js';
import type { ProblemList } from './config-problem.js';
import { defaultCoordinator } from './defaults.js';
import { configLimits } from './limits.js';
import { hintFrom } from '@suzumio/contract/errors/suggest';

export interface CheckedFile {
  /** Whether it has everything resolved. */
  readonly rendered: boolean;
  readonly problems: ProblemList;
  readonly warnings: ProblemList;
  /** The tools of its local toolpacks; undefined where these were not read, which is for who makes the project. */
  readonly offered?: readonly string[] | undefined;
}

/**
 * Checks what a schema cannot: that references within the file have targets. Works on the tree, so that these problems
 * are reported together with the schema's; values of the wrong form are skipped here.
 */
export function checkReferences(root: ConfigNode, { rendered, problems, warnings, offered }: CheckedFile): void {
  const agents = checkAgentIds(root, problems);
  checkDisplayNames(root, agents, warnings);
  checkTools(root, problems, offered);
  checkChannels(root, agents, rendered, problems);
  checkScript(root, agents, problems);
  checkMaintainers(root, agents, rendered, problems);
  checkCoordinator(root, agents, problems);
  checkScriptTools(root, problems, offered);
  checkModels(root, problems);
}

/** Every agent's id and every entry's id under `agents`. */
interface AgentIds {
  readonly expanded: ReadonlySet<string>;
  readonly named: ReadonlySet<string>;
}

function checkAgentIds(root: ConfigNode, problems: ProblemList): AgentIds {
  const expanded = new Set<string>();
  const named = new Set<string>();
  for (const [base, entry] of entriesOf(childOf(root, 'agents'))) {
    const count = numberOf(childOf(entry.value, 'count'));
    if (count !== undefined && (count > configLimits.agents || !Number.isInteger(count))) continue;
    named.add(base);
    // In a rendered file a counted agent still names its entry.
    named.add(textOf(childOf(entry.value, 'base')) ?? base);
    if (expanded.size > configLimits.agents) break;
    for (const id of idsOfEntry(base, count)) {
      if (expanded.has(id)) {
        problems.add(
          'agent-duplicate',
          entry.keyPlace,
          `there are two agents with the id ${id}, counted ones included`,
        );
      }
      if (id.length > 63) {
        problems.add('key-invalid', entry.keyPlace, `the id ${id} of a counted agent is longer than 63 characters`);
      }
      expanded.add(id);
    }
  }
  if (expanded.size > configLimits.agents) {
    const place = (childOf(root, 'agents') ?? root).place;
    problems.add('value-invalid', place, `agents: a project has at most ${configLimits.agents} agents`);
  }
  return { expanded, named };
}

/** Warns of ambiguous display names, by which mail cannot be addressed. */
function checkDisplayNames(root: ConfigNode, agents: AgentIds, warnings: ProblemList): void {
  const seen = new Set<string>();
  for (const [id, entry] of entriesOf(childOf(root, 'agents'))) {
    const given = [childOf(entry.value, 'displayName'), ...itemsOf(childOf(entry.value, 'names'))];
    for (const node of given) {
      const name = textOf(node);
      if (name === undefined || node === undefined) continue;
      if (seen.has(name) || name === USER_ID || (agents.expanded.has(name) && name !== id)) {
        const message = `the name ${name} stands for more than one participant: mail must be addressed by id`;
        warnings.add('name-ambiguous', node.place, message);
      }
      seen.add(name);
    }
  }
}

function checkChannels(root: ConfigNode, agents: AgentIds, rendered: boolean, problems: ProblemList): void {
  const seen = new Set<string>();
  for (const channel of itemsOf(childOf(root, 'channels'))) {
    const node = childOf(channel, 'name') ?? channel;
    const name = textOf(node);
    if (name === undefined) continue;
    if (seen.has(name)) problems.add('name-duplicate', node.place, `there are two channels ${name}`);
    seen.add(name);
    const members = new Set<string>();
    for (const member of itemsOf(childOf(channel, 'members'))) {
      const id = textOf(member);
      if (id === undefined) continue;
      if (members.has(id)) problems.add('name-duplicate', member.place, `${id} is twice a member of ${name}`);
      members.add(id);
      const exists = rendered ? agents.expanded.has(id) : isAgent(id, agents);
      if (!exists) problems.add('agent-unknown', member.place, () => unknownAgent(id, agents));
    }
  }
}

function checkScript(root: ConfigNode, agents: AgentIds, problems: ProblemList): void {
  for (const rule of itemsOf(childOf(childOf(childOf(root, 'backend'), 'runner'), 'script'))) {
    const node = childOf(rule, 'agent');
    const id = textOf(node);
    if (node !== undefined && id !== undefined && !isAgent(id, agents)) {
      problems.add('agent-unknown', node.place, () => unknownAgent(id, agents));
    }
  }
}

function checkMaintainers(root: ConfigNode, agents: AgentIds, rendered: boolean, problems: ProblemList): void {
  for (const node of itemsOf(childOf(childOf(root, 'git'), 'maintainers'))) {
    const id = textOf(node);
    if (id === undefined) continue;
    const exists = rendered ? agents.expanded.has(id) : isAgent(id, agents);
    if (!exists) problems.add('agent-unknown', node.place, () => unknownAgent(id, agents));
  }
}

/** Where the others write to the coordinator alone, there has to be one. */
function checkCoordinator(root: ConfigNode, agents: AgentIds, problems: ProblemList): void {
  const communication = childOf(root, 'communication');
  const restricts = childOf(communication, 'restrictNonCoordinatorToCoordinator');
  const node = childOf(communication, 'coordinatorAgent');
  const id = node === undefined ? defaultCoordinator : textOf(node);
  const isRestricted = restricts !== undefined && String(toPlain(restricts)).trim() === 'true';
  if (!isRestricted || id === undefined || agents.expanded.has(id)) return;
  problems.add(
    'agent-unknown',
    (node ?? restricts).place,
    () => `there is no agent ${id} to coordinate${hintFrom(id, [...agents.expanded])}`,
  );
}

function isAgent(id: string, agents: AgentIds): boolean {
  return agents.expanded.has(id) || agents.named.has(id);
}

function unknownAgent(id: string, agents: AgentIds): string {
  return `unknown agent "${id}"${hintFrom(id, [...agents.named, ...agents.expanded])}`;
}

function numberOf(node: ConfigNode | undefined): number | undefined {
  if (node?.kind !== 'scalar' || node.value === null || typeof node.value === 'boolean') return undefined;
  return Number(node.value);
}
