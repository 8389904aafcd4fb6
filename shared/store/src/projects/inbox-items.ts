import { budgetShareTold, type InboxItem } from '@suzumio/contract/model/inbox';
import type { ProjectConfig } from '@suzumio/contract/model/project-config';
import type { Pause } from '@suzumio/contract/model/pause';
import { stepAfterEvent } from '@suzumio/core/why/what-helps';
import { byHand, type NextStep, nextSteps } from '@suzumio/core/why/next-steps';
import { hasBudget } from '../budgets/budgets-of.js';
import { listBudgets } from '../budgets/read-budgets.js';
import { excerptOf } from '../mail/excerpt.js';
import { listModelFaults } from '../models/model-faults.js';
import type { MessageRow } from '../mail/messages.js';
import { type AgentRow, pauseOf, projectRow } from '../rows.js';
import { iso, parsed } from '../sqlite/page.js';
import type { AgentFailure } from './agents.js';
import type { SqlReader } from '../sqlite/sql.js';

/** An item of the inbox, whoever reads it. */
export type InboxEntry = InboxItem extends infer Item ? (Item extends InboxItem ? Omit<Item, 'read'> : never) : never;

/** What of a project waits for a person: its report, failed agents, pauses, models that refuse, and budgets that are nearly used. */
export function readWaiting(reader: SqlReader, config: ProjectConfig): InboxEntry[] {
  const project = projectRow(reader);
  const { id, status } = project;
  // Nothing of it goes on.
  if (status === 'completed') return [];
  const agents = reader.all<AgentRow & { failure_json: string | null; state_at_ms: number }>(
    `SELECT * FROM agents WHERE state = 'failed' OR paused_json IS NOT NULL ORDER BY position`,
  );
  const entries: InboxEntry[] = [];
  if (status === 'submitted') entries.push(submitted(reader, project));
  const whole = pauseOf(project);
  if (whole) entries.push(pausedEntry(id, null, whole));
  for (const agent of agents) {
    const failure = parsed<AgentFailure>(agent.failure_json);
    if (agent.state === 'failed' && failure) {
      const { code, message, turn, turnNumber, attempt } = failure;
      entries.push({
        kind: 'failure',
        id: `${id}:failure:${turn}:${attempt}`,
        project: id,
        at: iso(agent.state_at_ms),
        agent: agent.id,
        displayName: agent.display_name,
        code,
        message,
        turnNumber,
        ...stepAfterEvent(id, agent.id, code),
      });
    }
    const own = pauseOf(agent);
    if (own) entries.push(pausedEntry(id, { id: agent.id, displayName: agent.display_name }, own));
  }
  const faults = listModelFaults(reader, config).map(({ preset, code, message, at }): InboxEntry => ({
    kind: 'model',
    id: `${id}:model:${preset}:${at}`,
    project: id,
    at,
    preset,
    code,
    message,
    ...byHand('doctor'),
  }));
  return [...entries, ...faults, ...budgetEntries(reader, config, id)];
}

function submitted(reader: SqlReader, { id, status_at_ms: atMs }: { id: string; status_at_ms: number }): InboxEntry {
  const version = reader.get<{ version: number | null }>('SELECT max(version) AS version FROM reports')?.version ?? 0;
  return {
    kind: 'report',
    id: `${id}:report:${version}:${atMs}`,
    project: id,
    at: iso(atMs),
    version,
    ...nextSteps.readReport(id),
  };
}

/**
 * @param project null where every project is paused
 * @param agent null where a whole project is
 */
export function pausedEntry(
  project: string | null,
  agent: { id: string; displayName: string | null } | null,
  pause: Pause,
): InboxEntry {
  return {
    kind: 'pause',
    id: `${project ?? ''}:pause:${agent?.id ?? ''}:${pause.at}`,
    project,
    at: pause.at,
    agent: agent?.id ?? null,
    displayName: agent?.displayName ?? null,
    pause,
    ...resuming(project, agent?.id ?? null),
  };
}

function resuming(project: string | null, agent: string | null): NextStep {
  if (project === null) return nextSteps.resumeAll();
  return agent === null ? nextSteps.resumeProject(project) : nextSteps.resumeAgent(project, agent);
}

function budgetEntries(reader: SqlReader, config: ProjectConfig, project: string): InboxEntry[] {
  if (!hasBudget(reader, config)) return [];
  return listBudgets(reader, config).flatMap(({ agent, ...limits }) =>
    (['usd', 'tokens', 'turns'] as const).flatMap((limit): InboxEntry[] => {
      const { limit: max, used } = limits[limit];
      if (max === null || used <= budgetShareTold * max) return [];
      return [
        {
          kind: 'budget',
          // Reached, it is told of once more.
          id: `${project}:budget:${agent ?? ''}:${limit}:${max}${used >= max ? ':reached' : ''}`,
          project,
          agent,
          displayName: agent === null ? null : displayNameOf(reader, agent),
          limit,
          max,
          used,
          ...nextSteps.readBudget(project, agent),
        },
      ];
    }),
  );
}

/** The place of a message or an event among those of all projects. */
export interface PlaceInCell {
  atMs: number;
  project: string;
  seq: number;
}

/** A message to the person, and its place. */
export interface MailEntry {
  place: PlaceInCell;
  entry: InboxEntry;
}

/** Messages to the person, the newest first: at most `limit` of those before a place. */
export function readMailToUser(reader: SqlReader, limit: number, before?: PlaceInCell): MailEntry[] {
  const { id: project } = projectRow(reader);
  const rows = reader.all<MessageRow>(
    `SELECT * FROM messages WHERE recipient = 'user' AND (created_at_ms, seq) < (:atMs, :seq)
     ORDER BY created_at_ms DESC, seq DESC LIMIT :limit`,
    { ...boundOf(project, before), limit },
  );
  return rows.map((row) => ({
    place: { atMs: row.created_at_ms, project, seq: row.seq },
    entry: messageEntry(reader, project, row),
  }));
}

function boundOf(project: string, before: PlaceInCell | undefined): { atMs: number; seq: number } {
  if (before === undefined) return { atMs: Number.MAX_SAFE_INTEGER, seq: 0 };
  const { atMs, seq } = before;
  // Messages of one moment are in the order of their projects.
  return { atMs, seq: project === before.project ? seq : project < before.project ? Number.MAX_SAFE_INTEGER : 0 };
}

/** Compares places in several projects: older ones first. */
export function inOrderOfCell(a: PlaceInCell, b: PlaceInCell): number {
  if (a.atMs !== b.atMs) return a.atMs - b.atMs;
  if (a.project !== b.project) return a.project < b.project ? -1 : 1;
  return a.seq - b.seq;
}

/** How many messages to the person there are. */
export function countMailToUser(reader: SqlReader): number {
  return reader.get<{ n: number }>(`SELECT count(*) AS n FROM messages WHERE recipient = 'user'`)?.n ?? 0;
}

/** Whether an item is a message to the person that is there. */
export function isMailToUser(reader: SqlReader, item: string): boolean {
  const [, kind, id = ''] = item.split(':');
  if (kind !== 'message') return false;
  return reader.get(`SELECT 1 FROM messages WHERE id = :id AND recipient = 'user'`, { id }) !== undefined;
}

/** What an agent is called; null where it has no name but its id. */
export function displayNameOf(reader: SqlReader, agent: string): string | null {
  const sql = 'SELECT display_name FROM agents WHERE id = :agent';
  return reader.get<Pick<AgentRow, 'display_name'>>(sql, { agent })?.display_name ?? null;
}

function messageEntry(reader: SqlReader, project: string, row: MessageRow): InboxEntry {
  return {
    kind: 'message',
    id: `${project}:message:${row.id}`,
    project,
    at: iso(row.created_at_ms),
    message: {
      id: row.id,
      seq: row.seq,
      sender: row.sender,
      displayName: displayNameOf(reader, row.sender),
      priority: row.priority,
      kind: row.kind,
      threadId: row.thread_id,
      excerpt: excerptOf(row.body),
    },
    ...nextSteps.readMessage(project, row.seq),
  };
}
