import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { USER_ID } from '@suzumio/contract/model/project-config';
import { nextProjectStatus, type ProjectAction, type ProjectStatus } from '@suzumio/contract/model/project-status';
import { isQueued, projectRow, type TurnRow } from '../rows.js';
import { noteEffect } from '../protection/watch.js';
import { inTime, iso } from '../sqlite/page.js';
import type { Tx } from '../sqlite/tx.js';
import type { PostedMessage } from '../mail/write-message.js';
import { cancelTurn } from '../turns/end-turn.js';
import { type NewMessage, postMessage } from '../mail/post-message.js';

/** @throws SuzumioError `transition-refused`, as every verb here */
export function startProject(tx: Tx, actor: string): void {
  transition(tx, 'start');
  tx.emit({ type: 'project.started', actor });
}

/** Stops scheduling. Running turns finish, unless `now`. */
export function stopProject(tx: Tx, actor: string, options: { now: boolean }): void {
  transition(tx, 'stop');
  cancelTurns(tx, options.now ? 'all' : 'unclaimed', 'the project was stopped', actor);
  tx.emit({ type: 'project.stopped', actor, data: { now: options.now } });
}

/** What a person decides on: the version of the report that they read. @default the newest */
interface Decided {
  readonly version?: number | undefined;
}

/** In which status the person read the report. @default 'submitted' */
type ReadStatus = 'submitted' | 'completed' | undefined;

/**
 * Accepts the report: the project ends.
 *
 * @throws SuzumioError `report-version-refused` where another version is the newest; `transition-refused`
 */
export function approveProject(tx: Tx, actor: string, decided: Decided = {}): void {
  refuseDecided(tx, 'approve', 'submitted');
  transition(tx, 'approve');
  const version = versionDecided(tx, decided);
  cancelTurns(tx, 'all', 'the project was completed', actor);
  tx.emit({ type: 'project.completed', actor, data: { version } });
}

/**
 * Sends the work back with a message, which wakes its recipient.
 *
 * @throws SuzumioError `report-version-refused` where another version is the newest; `transition-refused`, also where the
 *   project has another status than the one that was read: an approved report is sent back only where the request says so; what
 *   {@link postMessage} throws
 */
export function requestChanges(
  tx: Tx,
  request: Pick<NewMessage, 'body' | 'actor' | 'attachments'> & { recipient: string; status?: ReadStatus } & Decided,
): PostedMessage {
  if (request.recipient === USER_ID) {
    throw new SuzumioError('recipient-unknown', `Changes are requested from an agent; "${USER_ID}" is not one.`, {
      recipient: request.recipient,
    });
  }
  refuseDecided(tx, 'request-changes', request.status ?? 'submitted');
  transition(tx, 'request-changes');
  const version = versionDecided(tx, request);
  tx.emit({
    type: 'project.changes-requested',
    actor: request.actor,
    data: { version, recipient: request.recipient },
  });
  const message = postMessage(tx, {
    sender: USER_ID,
    recipient: request.recipient,
    priority: 'P1',
    body: request.body,
    attachments: request.attachments,
    actor: request.actor,
  });
  tx.run('UPDATE projects SET changes_requested_seq = :seq', { seq: message.seq });
  return message;
}

/**
 * Records a stored report as the next version, and submits the project to the person.
 *
 * @throws SuzumioError `stale-submit` when changes were requested after the turn's prompt was written;
 *   `project-standing`; `transition-refused`
 */
export function submitReport(
  tx: Tx,
  report: { path: string; agent: string; turn: string; promptSeq: number },
): { version: number } {
  const project = projectRow(tx);
  if (project.standing_team !== null) {
    throw new SuzumioError(
      'project-standing',
      `This is the standing project of the team ${project.standing_team}: it goes on, and nothing is handed in. Answer whoever asked by mail.`,
    );
  }
  if (report.promptSeq < project.changes_requested_seq) {
    throw new SuzumioError(
      'stale-submit',
      'Changes were requested after this turn began, so its report is out of date. The request is in your unread mail.',
    );
  }
  transition(tx, 'submit');
  const version = reportVersion(tx) + 1;
  tx.insert('reports', {
    version,
    path: report.path,
    agent_id: report.agent,
    turn_id: report.turn,
    created_at_ms: tx.nowMs,
  });
  tx.run('UPDATE projects SET report_path = :path', { path: report.path });
  noteEffect(tx, report.agent);
  cancelTurns(tx, 'unclaimed', 'the report was submitted', report.agent);
  tx.emit({
    type: 'project.submitted',
    actor: report.agent,
    agent: report.agent,
    turn: report.turn,
    data: { version },
  });
  return { version };
}

function transition(tx: Tx, action: ProjectAction): ProjectStatus {
  const next = nextProjectStatus(projectRow(tx).status, action);
  tx.run('UPDATE projects SET status = :next, status_at_ms = :now', { next, now: tx.nowMs });
  return next;
}

/** Unclaimed turns have done nothing yet; a queued turn with a journal waits for the project to run again. */
export function cancelTurns(tx: Tx, which: 'unclaimed' | 'all', reason: string, actor: string): void {
  const turns = tx.all<TurnRow>(
    which === 'all'
      ? `SELECT * FROM turns WHERE status IN ('queued', 'running')`
      : `SELECT * FROM turns WHERE ${isQueued} AND attempt = 0`,
  );
  for (const turn of turns) cancelTurn(tx, turn, reason, actor);
}

function reportVersion(tx: Tx): number {
  return tx.get<{ version: number }>('SELECT coalesce(max(version), 0) AS version FROM reports')?.version ?? 0;
}

interface DecisionRow {
  type: 'project.completed' | 'project.changes-requested';
  actor: string;
  created_at_ms: number;
  version: number | null;
  recipient: string | null;
}

/** The last decision on a report from a moment on; undefined where none was made. */
function lastDecision(tx: Tx, sinceMs: number): DecisionRow | undefined {
  const time = inTime(tx, { table: 'events', column: 'created_at_ms' }, { since: sinceMs });
  return tx.get<DecisionRow>(
    `SELECT type, actor, created_at_ms, data_json ->> '$.version' AS version, data_json ->> '$.recipient' AS recipient
     FROM events WHERE type IN ('project.completed', 'project.changes-requested') AND ${time.where.join(' AND ')}
     ORDER BY seq DESC LIMIT 1`,
    time.params,
  );
}

/** Who decided what, and when: `admin approved version 1 of the report at 2026-11-27T08:00:00.000Z`. */
function decisionText({ type, actor, created_at_ms: atMs, version, recipient }: DecisionRow): string {
  const which = version === null ? 'the report' : `version ${version} of the report`;
  const what = type === 'project.completed' ? `approved ${which}` : `sent ${which} back to ${recipient ?? 'an agent'}`;
  return `${actor} ${what} at ${iso(atMs)}`;
}

/** Facts of a decision that was made before, for the error that refuses another one. */
function decisionDetails({ type, actor, created_at_ms: atMs, version }: DecisionRow) {
  const decision = type === 'project.completed' ? 'approved' : 'changes-requested';
  return { decision, decidedBy: actor, decidedAt: iso(atMs), decidedVersion: version };
}

/** A report that was decided on is not decided on a second time by who has not seen that. */
function refuseDecided(tx: Tx, action: 'approve' | 'request-changes', read: NonNullable<ReadStatus>): void {
  const { status, status_at_ms: sinceMs } = projectRow(tx);
  if (status === read || (status !== 'completed' && status !== 'running')) return;
  const last = lastDecision(tx, sinceMs);
  if (last === undefined || (status === 'running' && last.type !== 'project.changes-requested')) return;
  const remedy =
    status === 'completed'
      ? action === 'approve'
        ? 'nothing is left to approve'
        : 'send it back with the status "completed" (`--approved`) where the project is to run again'
      : 'the next version comes to the inbox';
  throw new SuzumioError('transition-refused', `${decisionText(last)}, so "${action}" is refused: ${remedy}.`, {
    status,
    action,
    read,
    ...decisionDetails(last),
  });
}

/** The version that is decided on: the newest. Nobody decides on what they have not read. */
function versionDecided(tx: Tx, { version }: Decided): number {
  const newest = reportVersion(tx);
  if (version === undefined || version === newest) return newest;
  const read = tx.get<{ at: number }>('SELECT created_at_ms AS at FROM reports WHERE version = :version', { version });
  const last = read && lastDecision(tx, read.at);
  const decided = last?.version === version ? `: ${decisionText(last)}` : '';
  throw new SuzumioError(
    'report-version-refused',
    `Version ${newest} of the report is the newest, so a decision on version ${version} is refused: read that one first${decided}.`,
    { version, newest, ...(last?.version === version ? decisionDetails(last) : {}) },
  );
}
