import { type OpenedDirectory, openSnapshot, SnapshotInvalid } from '@suzumio/protocol/workspace-snapshot';
import type { SqlReader } from '../sqlite/sql.js';
import type { ContentStore } from './content-store.js';
import { storedManifest } from './stored-snapshot.js';

/** How much of the history of workspaces is kept with its files: since a moment, and of so many last turns. */
export interface KeptHistory {
  sinceMs: number;
  turns: number;
}

/** A snapshot that rows refer to. */
interface KeptSnapshot {
  snapshot: string;
  /** `now`: an agent's, or its running turn's; `before`: with its files; `listed`: its manifests alone. */
  kept: 'now' | 'before' | 'listed';
}

/** Every agent's snapshot, the newest capture of the turn that it has now, and those before and after its earlier turns. */
function snapshotsOf(reader: SqlReader, { sinceMs, turns }: KeptHistory): KeptSnapshot[] {
  const rows = reader.all<{ snapshot: string; kept: number }>(
    `WITH changes AS (
       SELECT snapshot_before, snapshot_after,
         iif(created_at_ms >= :sinceMs OR turn_number > agents.turns - :turns, 1, 0) AS kept
       FROM workspace_changes JOIN agents ON agents.id = agent_id
     )
     SELECT snapshot, max(kept) AS kept FROM (
       SELECT snapshot, 2 AS kept FROM agents
       UNION ALL SELECT turn_captures.snapshot, 2 FROM turn_captures JOIN agents ON active_turn_id = turn_id
       UNION ALL SELECT snapshot_before, kept FROM changes
       UNION ALL SELECT snapshot_after, kept FROM changes
     ) WHERE snapshot IS NOT NULL GROUP BY snapshot ORDER BY kept DESC`,
    { sinceMs, turns: Math.min(turns, Number.MAX_SAFE_INTEGER) },
  );
  return rows.map(({ snapshot, kept }) => ({ snapshot, kept: (['listed', 'before', 'now'] as const)[kept] ?? 'now' }));
}

/** Snapshots and the content that they refer to. Each manifest is read once, however many snapshots have it. */
export class KeptSnapshots {
  /** By hash, a snapshot that contains it. */
  readonly contents = new Map<string, string>();
  /** Manifests whose files are not kept. */
  readonly #listed = new Set<string>();

  constructor(
    private readonly content: ContentStore,
    private readonly history: KeptHistory,
  ) {}

  /** The snapshots that are not in here yet. */
  unknown(reader: SqlReader): KeptSnapshot[] {
    return snapshotsOf(reader, this.history).filter(({ snapshot, kept }) => !this.#has(snapshot, kept !== 'listed'));
  }

  /**
   * @throws SnapshotInvalid where an agent's own snapshot cannot be read: then nothing may be removed. Of its history, what cannot be
   *   read is of no use
   */
  async add(snapshots: readonly KeptSnapshot[]): Promise<void> {
    for (const { snapshot, kept } of snapshots) {
      try {
        const root = await openSnapshot(snapshot, (sha256) => storedManifest(this.content, sha256));
        await this.#add({ ...root, sha256: snapshot }, snapshot, kept !== 'listed');
      } catch (error) {
        if (kept === 'now' || !(error instanceof SnapshotInvalid)) throw error;
        this.contents.set(snapshot, snapshot);
      }
    }
  }

  async #add({ sha256, entries }: OpenedDirectory, snapshot: string, files: boolean): Promise<void> {
    for (const entry of entries) {
      if (entry.kind === 'file' && files) this.contents.set(entry.sha256, snapshot);
      if (entry.kind !== 'directory' || (entry.sha256 !== undefined && this.#has(entry.sha256, files))) continue;
      await this.#add(await entry.open(), snapshot, files);
    }
    if (sha256 === undefined) return;
    this.contents.set(sha256, snapshot);
    if (files) this.#listed.delete(sha256);
    else this.#listed.add(sha256);
  }

  #has(sha256: string, files: boolean): boolean {
    return this.contents.has(sha256) && !(files && this.#listed.has(sha256));
  }
}
