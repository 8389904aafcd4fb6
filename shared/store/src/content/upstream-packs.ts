import type { SqlReader } from '../sqlite/sql.js';

// What is new in the repositories that workspaces are clones of, as workers have packed it.

export function isUpstreamPack(reader: SqlReader, sha256: string): boolean {
  return reader.get('SELECT 1 FROM upstream_looks WHERE pack = :sha256', { sha256 }) !== undefined;
}

/** Whether a turn may still ask for a pack: a later one of its agent that needs no other takes the place of all before it. */
export function isNeededUpstreamPack(reader: SqlReader, sha256: string): boolean {
  const row = reader.get(
    `SELECT 1 FROM upstream_looks AS look WHERE pack = :sha256 AND NOT EXISTS (
       SELECT 1 FROM upstream_looks AS later
       WHERE later.agent_id = look.agent_id AND later.seq > look.seq AND later.pack IS NOT NULL AND later.alone = 1)`,
    { sha256 },
  );
  return row !== undefined;
}
