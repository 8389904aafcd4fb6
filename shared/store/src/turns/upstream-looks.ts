import type { ProjectConfig } from '@suzumio/contract/model/project-config';
import type { WorkspaceRepositoryView } from '@suzumio/contract/model/workspace';
import { cloneOf } from '@suzumio/core/config/sandbox-of';
import type { Failure } from '@suzumio/protocol/failure-codes';
import {
  isMovable,
  maxTipsBefore,
  type LookReport,
  type LookRequest,
  repositoryOf,
  type Upstream,
} from '@suzumio/protocol/repository';
import { agentRow, attemptRow, turnRow } from '../rows.js';
import { iso } from '../sqlite/page.js';
import type { SqlReader } from '../sqlite/sql.js';
import type { Tx } from '../sqlite/tx.js';
import { assertRunning, type AttemptId } from './authorize.js';
import { baseRow } from './workspace-base-row.js';

interface LookRow {
  seq: number;
  agent_id: string;
  turn_id: string;
  commit_id: string;
  ahead: number | null;
  rewritten: number;
  pack: string | null;
  pack_bytes: number | null;
  alone: number;
  shallow_json: string | null;
  failure_json: string | null;
  created_at_ms: number;
}

/**
 * What the worker of a turn is to find out before the turn starts; undefined where it has no clone of before, where that is
 * known, or where the turn has done something already, without knowing it.
 */
export function dueLook(reader: SqlReader, config: ProjectConfig, turn: string): LookRequest | undefined {
  const { agent_id: agent } = turnRow(reader, turn);
  const clone = cloneOf(config, agent);
  const base = baseRow(reader, agent);
  if (!clone || !isMovable(clone) || !base || base.turn_id === turn) return undefined;
  if (lookOf(reader, turn) || hasJournal(reader, turn)) return undefined;
  const tips = chainTo(reader, agent, Number.MAX_SAFE_INTEGER).map(({ commit_id }) => commit_id);
  return { ...clone, known: [base.commit_id, ...tips] };
}

/**
 * Records where the repository of a workspace is for a turn. The first report of a turn wins.
 *
 * @returns what the turn is told
 * @throws SuzumioError `attempt-over`
 */
export function recordLook(tx: Tx, config: ProjectConfig, id: AttemptId, report: LookReport): Upstream | undefined {
  assertRunning(attemptRow(tx, id.turn, id.attempt), id);
  const { agent_id: agent } = turnRow(tx, id.turn);
  const clone = cloneOf(config, agent);
  const base = baseRow(tx, agent);
  if (!clone || !base) return undefined;
  const earlier = upstreamOf(tx, id.turn);
  if (earlier) return earlier;
  const before = newestLook(tx, agent);
  const from = before?.commit_id ?? base.commit_id;
  const found =
    'noNews' in report
      ? {
          commit_id: from,
          ahead: before ? before.ahead : 0,
          rewritten: before?.rewritten ?? 0,
          shallow_json: before?.shallow_json ?? null,
          failure_json: JSON.stringify(report.noNews),
        }
      : {
          commit_id: report.commit,
          ahead: report.ahead ?? null,
          rewritten: report.rewritten ? 1 : 0,
          pack: report.pack?.sha256 ?? null,
          pack_bytes: report.pack?.sizeBytes ?? null,
          alone: report.pack?.alone === true ? 1 : 0,
          shallow_json: report.shallow ? JSON.stringify(report.shallow) : null,
        };
  tx.insert('upstream_looks', { agent_id: agent, turn_id: id.turn, created_at_ms: tx.nowMs, ...found });
  const { name: repository, ref } = repositoryOf(clone, base.commit_id);
  const of = { actor: 'system', agent, turn: id.turn } as const;
  const named = { repository, ...(ref === undefined ? {} : { ref }) };
  if ('noNews' in report) tx.emit({ ...of, type: 'upstream.missed', data: { ...named, ...report.noNews } });
  else if (report.commit !== from) {
    const { commit: to, ahead, rewritten } = report;
    const data = { ...named, from, to, ...(ahead === undefined ? {} : { ahead }), rewritten };
    tx.emit({ ...of, type: 'upstream.moved', data });
  }
  return upstreamOf(tx, id.turn);
}

/** Where the repository of a workspace is for a turn, with what brings it there; undefined where nobody has looked. */
export function upstreamOf(reader: SqlReader, turn: string): Upstream | undefined {
  const row = lookOf(reader, turn);
  if (!row) return undefined;
  const packs = chainTo(reader, row.agent_id, row.seq).flatMap(({ pack, pack_bytes }) =>
    pack === null || pack_bytes === null ? [] : [{ sha256: pack, sizeBytes: pack_bytes }],
  );
  const before = tipsBefore(reader, row);
  return {
    ...tipOf(row),
    packs,
    ...(row.shallow_json === null ? {} : { shallow: JSON.parse(row.shallow_json) as string[] }),
    ...(before.length === 0 ? {} : { before }),
    ...(row.failure_json === null ? {} : { noNews: { code: failureOf(row.failure_json).code } }),
  };
}

/** Whether a turn may have a pack. */
export function isPackOfTurn(reader: SqlReader, turn: string, sha256: string): boolean {
  return upstreamOf(reader, turn)?.packs.some((pack) => pack.sha256 === sha256) === true;
}

/**
 * What an agent's workspace is a clone of, and where that is as far as is known.
 *
 * @throws SuzumioError `agent-unknown`
 */
export function workspaceRepository(reader: SqlReader, config: ProjectConfig, agent: string): WorkspaceRepositoryView {
  const { id } = agentRow(reader, agent);
  const clone = cloneOf(config, id);
  const base = baseRow(reader, id);
  if (!clone || !base) return { agent: id, repository: null };
  const { name, ref = null, branch } = repositoryOf(clone, base.commit_id);
  const look = hasLooks(reader) ? newestLook(reader, id) : undefined;
  return {
    agent: id,
    repository: {
      name,
      ref,
      branch,
      base: base.commit_id,
      turn: base.turn_id,
      turnNumber: turnRow(reader, base.turn_id).number,
      clonedAt: iso(base.created_at_ms),
      upstream: look
        ? {
            commit: look.commit_id,
            ahead: look.ahead,
            rewritten: look.rewritten === 1,
            turn: look.turn_id,
            turnNumber: turnRow(reader, look.turn_id).number,
            lookedAt: iso(look.created_at_ms),
            noNews: look.failure_json === null ? null : failureOf(look.failure_json),
          }
        : null,
    },
  };
}

/** The looks with a pack, of those that an agent's tip after one of them needs, in their order. */
function chainTo(reader: SqlReader, agent: string, seq: number): LookRow[] {
  const from = reader.get<{ seq: number }>(
    `SELECT seq FROM upstream_looks WHERE agent_id = :agent AND seq <= :seq AND pack IS NOT NULL AND alone = 1
     ORDER BY seq DESC LIMIT 1`,
    { agent, seq },
  );
  return reader.all<LookRow>(
    `SELECT * FROM upstream_looks WHERE agent_id = :agent AND seq BETWEEN :from AND :seq AND pack IS NOT NULL ORDER BY seq`,
    { agent, from: from?.seq ?? 0, seq },
  );
}

/** The commits that an agent's repository was seen at before a look, but for what it shows itself, the newest first. */
function tipsBefore(reader: SqlReader, { agent_id: agent, seq, commit_id: now }: LookRow): string[] {
  return reader
    .all<{ commit_id: string }>(
      `SELECT commit_id FROM (
         SELECT commit_id, seq FROM upstream_looks WHERE agent_id = :agent AND seq < :seq ORDER BY seq DESC LIMIT :looks
       ) WHERE commit_id <> :now GROUP BY commit_id ORDER BY MAX(seq) DESC LIMIT :most`,
      { agent, seq, now, looks: 10 * maxTipsBefore, most: maxTipsBefore },
    )
    .map(({ commit_id }) => commit_id);
}

function newestLook(reader: SqlReader, agent: string): LookRow | undefined {
  return reader.get<LookRow>('SELECT * FROM upstream_looks WHERE agent_id = :agent ORDER BY seq DESC LIMIT 1', {
    agent,
  });
}

/** A database of before, which is read without being brought up to date, has none. */
function hasLooks(reader: SqlReader): boolean {
  return reader.get(`SELECT 1 FROM sqlite_schema WHERE name = 'upstream_looks'`) !== undefined;
}

function lookOf(reader: SqlReader, turn: string): LookRow | undefined {
  return reader.get<LookRow>('SELECT * FROM upstream_looks WHERE turn_id = :turn', { turn });
}

/** Whether anything of a turn is on record that a later attempt goes on from. */
function hasJournal(reader: SqlReader, turn: string): boolean {
  return ['tool_calls', 'model_calls'].some(
    (table) => reader.get(`SELECT 1 FROM ${table} WHERE turn_id = :turn LIMIT 1`, { turn }) !== undefined,
  );
}

function tipOf({ commit_id: commit, ahead, rewritten }: LookRow) {
  return { commit, ...(ahead === null ? {} : { ahead }), rewritten: rewritten === 1 };
}

function failureOf(json: string): Pick<Failure, 'code' | 'message'> {
  return JSON.parse(json) as Pick<Failure, 'code' | 'message'>;
}
