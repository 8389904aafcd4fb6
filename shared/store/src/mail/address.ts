import { hintFrom } from '@suzumio/contract/errors/suggest';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { USER_ID } from '@suzumio/contract/model/project-config';
import type { SqlReader } from '../sqlite/sql.js';
import { findTeam, teamMembers } from './team-members.js';

/** Where a message goes: its visible address, and the agents that receive it. */
export interface Address {
  /** An agent's id, `user`, or `@` and a team's name or `all`. */
  recipient?: string;
  channel?: string;
  agents: string[];
}

/**
 * The address of one agent, the person, or a channel: exactly one of `recipient` and `channel`.
 *
 * @throws SuzumioError `invalid-request`, `recipient-unknown`, `recipient-retired`, `recipient-ambiguous`, `recipient-self`,
 *   `channel-unknown`, `channel-not-member`
 */
export function addressOf(
  reader: SqlReader,
  sender: string,
  { recipient, channel }: { recipient?: string | undefined; channel?: string | undefined },
): Address {
  if (recipient !== undefined && channel === undefined) return directAddress(reader, sender, recipient);
  if (channel !== undefined && recipient === undefined) return channelAddress(reader, sender, channel);
  throw new SuzumioError(
    'invalid-request',
    recipient === undefined
      ? 'A message needs a recipient or a channel.'
      : 'A message has a recipient or a channel, not both.',
  );
}

/**
 * The address of a team, or of all agents; the sender receives nothing.
 *
 * @throws SuzumioError `team-unknown`, `team-empty`
 */
export function teamAddress(reader: SqlReader, sender: string, name: string | undefined): Address {
  const team = findTeam(reader, name);
  const agents = teamMembers(reader, team).filter((member) => member !== sender);
  if (agents.length === 0) {
    const whom = team === undefined ? 'in this project' : `in the team ${team}`;
    throw new SuzumioError('team-empty', `There is nobody ${whom} but ${sender}, so nobody would get it.`, {
      team: team ?? null,
    });
  }
  return { recipient: `@${team ?? 'all'}`, agents };
}

function directAddress(reader: SqlReader, sender: string, name: string): Address {
  const recipient = name === USER_ID ? USER_ID : resolveAgent(reader, name);
  if (recipient === sender) {
    throw new SuzumioError('recipient-self', `${sender} cannot send mail to itself.`, { recipient });
  }
  return { recipient, agents: recipient === USER_ID ? [] : [recipient] };
}

/** An agent by its id, else by its display name where that names one. */
function resolveAgent(reader: SqlReader, name: string): string {
  const all = reader.all<{ id: string; display_name: string | null; retired: number }>(
    'SELECT id, display_name, retired_version IS NOT NULL AS retired FROM agents ORDER BY position',
  );
  const agents = all.filter(({ retired }) => retired === 0);
  if (agents.some(({ id }) => id === name)) return name;
  const named = agents.filter(({ display_name }) => display_name === name);
  const [only] = named;
  if (only && named.length === 1) return only.id;
  if (named.length > 1) {
    throw new SuzumioError(
      'recipient-ambiguous',
      `"${name}" is the name of ${named.map(({ id }) => id).join(' and ')}; use the id.`,
      { recipient: name },
    );
  }
  if (all.some(({ id, display_name }) => id === name || display_name === name)) {
    const others = [...agents.map(({ id }) => id), USER_ID].join(', ');
    throw new SuzumioError(
      'recipient-retired',
      `${name} was retired, and reads no mail any more; mail can go to ${others}.`,
      { recipient: name },
    );
  }
  const known = [...agents.map(({ id }) => id), USER_ID];
  throw new SuzumioError('recipient-unknown', `There is no agent "${name}" in this project${hintFrom(name, known)}`, {
    recipient: name,
  });
}

function channelAddress(reader: SqlReader, sender: string, asked: string): Address {
  const channels = reader
    .all<{ name: string }>('SELECT name FROM channels WHERE closed = 0 ORDER BY position')
    .map(({ name }) => name);
  const channel = channels.find((name) => name === asked) ?? `#${asked}`;
  if (!channels.includes(channel)) {
    const hint = hintFrom(`#${asked.replace(/^#/, '')}`, channels);
    throw new SuzumioError('channel-unknown', `There is no channel "${asked}" in this project${hint}`, {
      channel: asked,
    });
  }
  const members = reader
    .all<{ agent_id: string }>(
      `SELECT agent_id FROM channel_members JOIN agents ON agents.id = agent_id
       WHERE channel = :channel ORDER BY position`,
      { channel },
    )
    .map(({ agent_id }) => agent_id);
  if (sender !== USER_ID && !members.includes(sender)) {
    throw new SuzumioError('channel-not-member', `${sender} is not a member of ${channel}.`, { channel });
  }
  return { channel, agents: members.filter((member) => member !== sender) };
}
