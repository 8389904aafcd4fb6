import type { Agent, Message, ProjectDetail } from '@suzumio/sdk/client';
import { addressed } from '../../../parts/places.js';
import { nameOf } from '../../../parts/states.js';
import { clockOf } from '../../../parts/time.js';
import { answerTo } from './answer-to.js';

/** Whom a letter may be for. */
export interface Recipient {
  /** What it is chosen by. */
  readonly id: string;
  readonly name: string;
  readonly label: string;
  /** How operations of mail name it: an announcement goes to a team, or to all. */
  readonly address:
    | { readonly recipient: string }
    | { readonly channel: string }
    | { readonly announce: true; readonly team?: string };
  /** Those that get it. */
  readonly agents: readonly Agent[];
}

type Channel = { readonly name: string; readonly members: readonly string[] };

/** The agents that mail can reach, the channels, and, where nothing is answered, the teams and everybody. */
export function recipientsOf({ agents: all }: ProjectDetail, channels: readonly Channel[], isAnswer: boolean) {
  const agents = all.filter(({ state }) => state !== 'retired');
  const groups: [label: string, recipients: Recipient[]][] = [['Agents', agents.map(anAgent)]];
  groups.push(['Channels', channels.map((channel) => aChannel(channel, agents))]);
  if (!isAnswer && agents.length > 1) {
    const teams = [...new Set(agents.flatMap(({ team }) => team ?? []))].sort();
    groups.push([
      'Announcements',
      [
        ...teams.map((team): Recipient => {
          const members = agents.filter((agent) => agent.team === team);
          const label = `${team}, a team of ${members.length}`;
          return { id: `team:${team}`, name: team, label, address: { announce: true, team }, agents: members };
        }),
        { id: 'all', name: 'all agents', label: 'all agents', address: { announce: true }, agents },
      ],
    ]);
  }
  return groups.filter(([, recipients]) => recipients.length > 0);
}

function anAgent(agent: Agent): Recipient {
  const name = nameOf(agent);
  const label = agent.role === name ? name : `${name}, ${agent.role}`;
  return { id: `agent:${agent.id}`, name, label, address: { recipient: agent.id }, agents: [agent] };
}

function aChannel({ name, members }: Channel, agents: readonly Agent[]): Recipient {
  return {
    id: `channel:${name}`,
    name,
    label: name,
    address: { channel: name },
    agents: agents.filter(({ id, base }) => members.includes(id) || members.includes(base)),
  };
}

/** Those that a message came from or went to, as a recipient of an answer to it. */
export function answered(message: Message, agents: readonly Agent[]): Recipient | undefined {
  const id = answerTo(message);
  if (id === undefined) return undefined;
  const [kind = '', name = ''] = id.split(/:(.*)/s);
  if (kind === 'channel') return aChannel({ name, members: [] }, agents);
  const agent = agents.find((one) => one.id === name);
  return agent
    ? anAgent(agent)
    : {
        id,
        name: addressed({ recipient: name, channel: null }, agents),
        label: name,
        address: { recipient: name },
        agents: [],
      };
}

/** What a letter will do, in a sentence. */
export function effectOf({ project }: ProjectDetail, { name, agents }: Recipient): string {
  const [one] = agents;
  const inbox = agents.length === 1 ? `${name}'s inbox` : 'their inboxes';
  if (project.status === 'initialized') return `It waits in ${inbox} until ${project.id} is started.`;
  if (project.status === 'stopped')
    return `${project.id} is stopped: it waits in ${inbox} until the project is started.`;
  if (project.status === 'submitted' || project.status === 'completed') {
    return `The report of ${project.id} is submitted: it waits in ${inbox} until changes are asked for.`;
  }
  if (project.paused !== null) return `${project.id} is paused: it waits in ${inbox} until the project goes on.`;
  if (agents.length !== 1 || !one) return `Wakes everybody in ${name === 'all agents' ? project.id : name}.`;
  if (one.state === 'failed') return `${name} has failed: it reads this once it is retried, or begins again.`;
  if (one.state === 'stopped') return `${name} is stopped: it reads this once it is started.`;
  if (one.paused !== null) return `${name} is paused: it reads this once it goes on.`;
  return one.activeTurn === null
    ? `Wakes ${name}, which reads it in its next turn.`
    : `${name} is at work${since(one)}, and reads it in its next turn. To have it read now, cancel turn ${one.activeTurn.number}: its own mail is undelivered then.`;
}

function since({ activeTurn }: Agent): string {
  const started = activeTurn?.startedAt ?? null;
  return started === null ? '' : ` since ${clockOf(new Date(started), false)}`;
}
