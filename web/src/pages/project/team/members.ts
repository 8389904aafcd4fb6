import type { Agent, MailCount } from '@suzumio/sdk/client';
import type { MarkKind } from '../../../parts/mark-kind.js';
import { some } from '../../../parts/numbers.js';
import { agentPath } from '../../../parts/places.js';
import { nameOf, stateOfAgent } from '../../../parts/states.js';

/** Who stands in the graph: the person, an agent, or all agents of a role. */
export interface Member {
  id: string;
  name: string;
  role: string;
  mark: MarkKind | 'person';
  word: string;
  href: string;
}

export interface Ways {
  from: string;
  to: string;
  messages: number;
  lastAt: string;
}

/** More are drawn by their roles. */
export const mostDrawn = 40;

/** What a role shows of its agents: the first of these that one of them has. */
const urgent: readonly MarkKind[] = ['failed', 'running', 'queued', 'paused', 'stopped'];

/**
 * The members of a graph and the mail between them. In a large team each role is one member, except the one that is opened.
 *
 * @param opened the role whose agents are drawn
 */
export function membersOf(
  project: string,
  agents: readonly Agent[],
  { ways, opened }: { ways: readonly MailCount[]; opened: string | null },
): { members: Member[]; ways: Ways[] } {
  const person = {
    id: 'user',
    name: 'You',
    role: '',
    mark: 'person',
    word: '',
    href: `/p/${project}/mail?to=user`,
  } as const;
  const isLarge = agents.length > mostDrawn;
  const roles = isLarge ? [...Map.groupBy(agents, ({ role }) => role)] : [['', agents] as const];
  const shownAs = new Map([['user', 'user']]);
  const members: Member[] = [person];
  const put = (member: Member, stoodFor: readonly Agent[]) => {
    members.push(member);
    for (const { id } of stoodFor) shownAs.set(id, member.id);
  };
  for (const [role, own] of roles.slice(0, mostDrawn)) {
    const drawn = !isLarge || own.length === 1 || role === opened ? own.slice(0, mostDrawn) : [];
    for (const agent of drawn) put(memberOf(project, agent), [agent]);
    const rest = own.slice(drawn.length);
    if (rest.length > 0) put(roleOf({ project, role, agents: rest, isOpen: drawn.length > 0 }), rest);
  }
  const others = roles.slice(mostDrawn).flatMap(([, own]) => own);
  if (others.length > 0) put(roleOf({ project, role: '', agents: others, isOpen: true }), others);
  return { members, ways: waysBetween(shownAs, ways) };
}

function memberOf(project: string, agent: Agent): Member {
  const { mark, word } = stateOfAgent(agent);
  const waits = agent.unread > 0 && mark !== 'queued' ? `, ${agent.unread} unread` : '';
  return {
    id: agent.id,
    name: nameOf(agent),
    role: agent.role === nameOf(agent) ? '' : agent.role,
    mark,
    word: `${word}${waits}`,
    href: agentPath(project, agent.id),
  };
}

/** Opened, it stands for those that are not drawn, and leads to the list of all. */
function roleOf({
  project,
  role,
  agents,
  isOpen,
}: {
  project: string;
  role: string;
  agents: readonly Agent[];
  isOpen: boolean;
}): Member {
  const marks = agents.map((agent) => stateOfAgent(agent).mark);
  const mark = urgent.find((one) => marks.includes(one)) ?? 'quiet';
  const counted = (one: MarkKind, word: string) => {
    const number = marks.filter((other) => other === one).length;
    return number === 0 ? [] : [`${number} ${word}`];
  };
  const states = [...counted('failed', 'failed'), ...counted('running', 'running'), ...counted('queued', 'waiting')];
  return {
    id: `role ${role}`,
    name: isOpen ? `${agents.length} more` : role,
    role: isOpen ? role : some(agents.length, 'agent'),
    mark,
    word: states.join(', ') || 'quiet',
    href: isOpen ? `/p/${project}/agents` : `/p/${project}?role=${encodeURIComponent(role)}`,
  };
}

function waysBetween(shownAs: ReadonlyMap<string, string>, ways: readonly MailCount[]): Ways[] {
  const between = new Map<string, Ways>();
  for (const { sender, recipient, messages, lastAt } of ways) {
    const [from, to] = [shownAs.get(sender), shownAs.get(recipient ?? '')];
    if (from === undefined || to === undefined || from === to) continue;
    const key = JSON.stringify([from, to]);
    const known = between.get(key);
    between.set(key, {
      from,
      to,
      messages: messages + (known?.messages ?? 0),
      lastAt: known && known.lastAt > lastAt ? known.lastAt : lastAt,
    });
  }
  return [...between.values()];
}
