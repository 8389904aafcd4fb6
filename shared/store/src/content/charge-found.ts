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

/** How many files one transaction charges: the project's database is locked meanwhile. */
const atOnce = 500;

/**
 * Charges files that were never charged: those from before quotas existed, and those whose charge was lost with a
 * process.
 *
 * @param snapshotWith finds the workspace snapshot that contains some content
 */
export async function chargeFound(
  store: Database,
  files: readonly StoredFile[],
  snapshotWith: (sha256: string) => string | undefined,
): Promise<void> {
  const uncharged = files.filter(
    ({ name }) => store.reader.get('SELECT 1 FROM stored_content WHERE sha256 = :name', { name }) === undefined,
  );
  if (uncharged.length === 0) return;
  const ownerOf = ownersIn(store.reader, snapshotWith);
  for (let start = 0; start < uncharged.length; start += atOnce) {
    const some = uncharged.slice(start, start + atOnce).map((file) => ({ ...file, ...ownerOf(file) }));
    await store.write((tx) => {
      for (const { name, owner, kind, sizeBytes } of some) {
        tx.run(
          `INSERT OR IGNORE INTO stored_content (sha256, owner, kind, size_bytes) VALUES (:name, :owner, :kind, :sizeBytes)`,
          { name, owner, kind, sizeBytes },
        );
      }
    });
  }
}

function ownersIn(
  reader: SqlReader,
  snapshotWith: (sha256: string) => string | undefined,
): (file: StoredFile) => ContentOwner {
  const agents = reader.all<{ id: string; snapshot: string | null }>(
    'SELECT id, snapshot FROM agents ORDER BY position',
  );
  const past = (snapshot: string) =>
    reader.get<{ id: string }>(
      'SELECT agent_id AS id FROM workspace_changes WHERE :snapshot IN (snapshot_before, snapshot_after) LIMIT 1',
      { snapshot },
    );
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
    const pusher = reader.get<{ agent: string }>(
      'SELECT agent_id AS agent FROM git_packs CROSS JOIN git_pushes ON seq = push_seq WHERE sha256 = :name',
      { name },
    );
    if (pusher) return { owner: pusher.agent, kind: 'content' };
    const snapshot = snapshotWith(name);
    const agent =
      snapshot === undefined ? undefined : (agents.find((one) => one.snapshot === snapshot) ?? past(snapshot));
    return agent ? { owner: agent.id, kind: 'snapshots' } : { owner: systemOwner, kind: 'content' };
  };
}
