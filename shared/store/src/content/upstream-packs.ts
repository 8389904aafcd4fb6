import type { SqlReader } from '../sqlite/sql.js';

// What is new in the repositories that workspaces are clones of, as workers have packed it. A pack is kept as long as the
// project: a later one may need what is in it.

export function isUpstreamPack(reader: SqlReader, sha256: string): boolean {
  return reader.get('SELECT 1 FROM upstream_looks WHERE pack = :sha256', { sha256 }) !== undefined;
}
