import type { RefUpdate, SharedState } from '@suzumio/protocol/shared-repository';
import type { SharedPushView, SharedRefView } from '@suzumio/contract/model/shared-repository';
import { iso, type Page, type Part, readPart } from '../sqlite/page.js';
import type { SqlReader } from '../sqlite/sql.js';

// The repository that a project's agents share: references, and the packs of the pushes that have moved them. A pack is kept
// as long as the project: a later one may need what is in it.

/** A pack of the shared repository. */
export interface SharedPack {
  push: number;
  sha256: string;
  sizeBytes: number;
  objects: number;
}

/** The references, ordered by name. */
export function sharedRefs(reader: SqlReader): SharedState['refs'] {
  return reader.all<SharedState['refs'][number]>('SELECT name AS ref, object_id AS id FROM git_refs ORDER BY name');
}

/** The packs of the pushes after one, oldest first. A pack that came again is not named again. */
export function sharedPacks(reader: SqlReader, after: number, limit: number): SharedPack[] {
  return reader.all<SharedPack>(
    `SELECT push_seq AS push, sha256, pack_bytes AS sizeBytes, pack_objects AS objects
     FROM git_packs CROSS JOIN git_pushes ON seq = push_seq WHERE push_seq > :after ORDER BY push_seq LIMIT :limit`,
    { after, limit },
  );
}

/** The size in bytes of a pack that was pushed; undefined where no push has brought it. */
export function sharedPackSize(reader: SqlReader, sha256: string): number | undefined {
  return reader.get<{ sizeBytes: number }>(
    'SELECT pack_bytes AS sizeBytes FROM git_packs CROSS JOIN git_pushes ON seq = push_seq WHERE sha256 = :sha256',
    { sha256 },
  )?.sizeBytes;
}

export function isPushed(reader: SqlReader, sha256: string): boolean {
  return reader.get('SELECT 1 FROM git_packs WHERE sha256 = :sha256', { sha256 }) !== undefined;
}

/** The references, each with the push that has moved it last. */
export function listSharedRefs(reader: SqlReader): SharedRefView[] {
  return reader
    .all<Omit<SharedRefView, 'pushedAt'> & { atMs: number }>(
      `SELECT name AS ref, object_id AS id, push_seq AS push, actor, agent_id AS agent, created_at_ms AS atMs
       FROM git_refs CROSS JOIN git_pushes ON seq = push_seq ORDER BY name`,
    )
    .map(({ atMs, ...ref }) => ({ ...ref, pushedAt: iso(atMs) }));
}

interface PushRow {
  seq: number;
  actor: string;
  agent_id: string | null;
  turn_id: string | null;
  turn_number: number | null;
  attempt: number | null;
  pack: string | null;
  pack_bytes: number;
  pack_objects: number;
  updates_json: string;
  created_at_ms: number;
}

/** Pushes in their order. */
export function listSharedPushes(reader: SqlReader, page: Page): Part<SharedPushView> {
  return readPart<PushRow, SharedPushView>(
    reader,
    {
      columns: 'git_pushes.*, turns.number AS turn_number',
      from: 'git_pushes LEFT JOIN turns ON turns.id = turn_id',
      key: 'git_pushes.seq',
      where: [],
      params: {},
    },
    page,
    viewOf,
  );
}

/** One push, by its number. */
export function sharedPush(reader: SqlReader, seq: number): SharedPushView {
  const [push] = listSharedPushes(reader, { after: seq - 1, limit: 1 }).items;
  if (push?.seq !== seq) throw new Error(`push ${String(seq)} is not there`);
  return push;
}

function viewOf(row: PushRow): SharedPushView {
  return {
    seq: row.seq,
    actor: row.actor,
    agent: row.agent_id,
    turn: row.turn_id,
    turnNumber: row.turn_number,
    attempt: row.attempt,
    updates: JSON.parse(row.updates_json) as RefUpdate[],
    pack: row.pack === null ? null : { sha256: row.pack, sizeBytes: row.pack_bytes, objects: row.pack_objects },
    createdAt: iso(row.created_at_ms),
  };
}
