import { USER_ID } from '@suzumio/contract/model/project-config';
import type { ContentOwner } from './charged-content.js';
import type { Database } from '../sqlite/tx.js';
import { listReports } from './reports.js';
import type { SqlReader } from '../sqlite/sql.js';
import { systemOwner } from './stored-bytes.js';

/** A file of a project. */
export interface StoredFile {
  name: string;
  /** Relative to the project's directory. */
  path: string;
  sizeBytes: number;
}

/**
 * Charges files that were never charged: those from before quotas existed, and those whose charge was lost with a
 * process.
 */
export async function chargeFound(store: Database, files: readonly (StoredFile & ContentOwner)[]): Promise<void> {
  await store.write((tx) => {
    for (const { name, owner, kind, sizeBytes } of files) {
      tx.run(
        `INSERT OR IGNORE INTO stored_content (sha256, owner, kind, size_bytes) VALUES (:name, :owner, :kind, :sizeBytes)`,
        { name, owner, kind, sizeBytes },
      );
    }
  });
}

/**
 * Tells who is to be charged for files in use.
 *
 * @param agentWith finds an agent whose workspace contains some content, now or in its history
 */
export function ownersIn(
  reader: SqlReader,
  agentWith: (sha256: string) => string | undefined,
): (file: Pick<StoredFile, 'name' | 'path'>) => ContentOwner {
  const reports = new Map(listReports(reader).map(({ path, agent }) => [path, agent]));
  return ({ name, path }) => {
    const reporter = reports.get(path);
    if (reporter !== undefined) return { owner: reporter, kind: 'reports' };
    const artifact = reader.get<{ creator: string }>(
      'SELECT creator FROM artifacts WHERE sha256 = :name ORDER BY seq',
      {
        name,
      },
    );
    if (artifact) return { owner: artifact.creator, kind: artifact.creator === USER_ID ? 'uploads' : 'content' };
    const pusher = reader.get<{ agent: string | null }>(
      'SELECT agent_id AS agent FROM git_packs CROSS JOIN git_pushes ON seq = push_seq WHERE sha256 = :name',
      { name },
    );
    if (pusher) {
      const { agent } = pusher;
      return agent === null ? { owner: USER_ID, kind: 'uploads' } : { owner: agent, kind: 'content' };
    }
    const follower = reader.get<{ agent: string }>(
      'SELECT agent_id AS agent FROM upstream_looks WHERE pack = :name ORDER BY seq LIMIT 1',
      { name },
    );
    if (follower) return { owner: follower.agent, kind: 'snapshots' };
    const agent = agentWith(name);
    return agent === undefined ? { owner: systemOwner, kind: 'content' } : { owner: agent, kind: 'snapshots' };
  };
}
