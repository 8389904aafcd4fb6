import { openSnapshot, SnapshotInvalid, type OpenedDirectory } from '@suzumio/protocol/workspace-snapshot';
import type { Sql, SqlReader } from '../sqlite/sql.js';

/** How much of the history of workspaces is kept with its files: since a moment, and of so many last turns. */
export interface KeptHistory {
  sinceMs: number;
  turns: number;
}

/** What is kept of a snapshot: its manifests alone, its files, too, or all of what an agent works with. */
const levels = { listed: 1, before: 2, now: 3 } as const;

/** A snapshot that rows refer to. */
export interface ReferredSnapshot {
  snapshot: string;
  agent: string;
  level: number;
}

/** How many rows of the history are in memory at a time. */
const atOnce = 1_000;

/** Every agent's snapshot, and the newest capture of the turn that it has now. */
const currentSql = `
  SELECT snapshot, id AS agent, ${String(levels.now)} AS level FROM agents WHERE snapshot IS NOT NULL
  UNION ALL SELECT turn_captures.snapshot, agents.id, ${String(levels.now)}
    FROM turn_captures JOIN agents ON active_turn_id = turn_id WHERE turn_captures.snapshot IS NOT NULL`;

/**
 * The content of snapshots, by hash, in a database of its own: a history has more of it than memory has room for. Each
 * manifest is read once, however many snapshots have it. What is added in part is completed when it is added again.
 */
export class KeptSnapshots {
  /** @param index is for this alone, and may be shared with another thread while that one works */
  constructor(private readonly index: Sql) {}

  /** Makes the tables. */
  prepare(): void {
    this.index.handle.exec(`
      CREATE TABLE contents (
        sha256 BLOB PRIMARY KEY,
        agent TEXT NOT NULL,
        -- Of a manifest: what is to be kept of it, and of what this is known already.
        wanted INTEGER NOT NULL DEFAULT 0,
        walked INTEGER NOT NULL DEFAULT 0
      ) WITHOUT ROWID;
      CREATE INDEX unwalked ON contents (wanted) WHERE walked < wanted;
      CREATE TABLE history (newest INTEGER NOT NULL);
      INSERT INTO history VALUES (0);
    `);
  }

  /**
   * Adds the snapshots of a project.
   *
   * @throws SnapshotInvalid where an agent's own snapshot cannot be read: then nothing may be removed. Of its history, what
   *   cannot be read is of no use
   */
  async addAll(
    reader: SqlReader,
    { sinceMs, turns }: KeptHistory,
    read: (sha256: string) => Promise<Uint8Array>,
  ): Promise<void> {
    for (const one of reader.all<ReferredSnapshot>(currentSql)) this.#want(one.snapshot, one.agent, one.level);
    for (let newest = 0; ;) {
      const changes = reader.all<{
        seq: number;
        agent: string;
        level: number;
        before: string | null;
        after: string | null;
      }>(
        `SELECT seq, agent_id AS agent, snapshot_before AS before, snapshot_after AS after,
           iif(created_at_ms >= :sinceMs OR turn_number > agents.turns - :turns, ${String(levels.before)}, ${String(levels.listed)})
             AS level
         FROM workspace_changes CROSS JOIN agents ON agents.id = agent_id WHERE seq > :newest ORDER BY seq LIMIT :atOnce`,
        { sinceMs, turns: Math.min(turns, Number.MAX_SAFE_INTEGER), newest, atOnce },
      );
      for (const { before, after, agent, level } of changes) {
        for (const snapshot of [before, after]) if (snapshot !== null) this.#want(snapshot, agent, level);
      }
      newest = changes.at(-1)?.seq ?? newest;
      this.index.run('UPDATE history SET newest = :newest', { newest });
      if (changes.length < atOnce) break;
    }
    await this.#walk(read);
  }

  /** The snapshots that rows have begun to refer to since {@link addAll}, and that are not in here yet. */
  unknown(reader: SqlReader): ReferredSnapshot[] {
    const { newest } = this.index.get<{ newest: number }>('SELECT newest FROM history') ?? { newest: 0 };
    const rows = reader.all<ReferredSnapshot>(
      `${currentSql}
       UNION ALL SELECT snapshot_before, agent_id, ${String(levels.before)} FROM workspace_changes
         WHERE seq > :newest AND snapshot_before IS NOT NULL
       UNION ALL SELECT snapshot_after, agent_id, ${String(levels.before)} FROM workspace_changes
         WHERE seq > :newest AND snapshot_after IS NOT NULL`,
      { newest },
    );
    return rows.filter(({ snapshot, level }) => {
      const sql = 'SELECT 1 FROM contents WHERE sha256 = :sha256 AND walked >= :level';
      return this.index.get(sql, { sha256: bytesOf(snapshot), level }) === undefined;
    });
  }

  /** @throws SnapshotInvalid as {@link addAll} */
  async add(snapshots: readonly ReferredSnapshot[], read: (sha256: string) => Promise<Uint8Array>): Promise<void> {
    for (const { snapshot, agent, level } of snapshots) this.#want(snapshot, agent, level);
    await this.#walk(read);
  }

  /** An agent that has content in its workspace, now or in its history. */
  agentWith(sha256: string): string | undefined {
    const sql = 'SELECT agent FROM contents WHERE sha256 = :sha256';
    return this.index.get<{ agent: string }>(sql, { sha256: bytesOf(sha256) })?.agent;
  }

  /** Reads the manifests that are wanted, those of agents' own snapshots first. */
  async #walk(read: (sha256: string) => Promise<Uint8Array>): Promise<void> {
    for (;;) {
      const next = this.index.get<{ sha256: Buffer; agent: string; wanted: number }>(
        'SELECT sha256, agent, wanted FROM contents WHERE walked < wanted ORDER BY wanted DESC LIMIT 1',
      );
      if (!next) return;
      const { sha256, agent, wanted } = next;
      try {
        await this.#addEntries(await openSnapshot(sha256.toString('hex'), read), agent, wanted);
      } catch (error) {
        if (wanted === levels.now || !(error instanceof SnapshotInvalid)) throw error;
      }
      this.index.run('UPDATE contents SET walked = wanted WHERE sha256 = :sha256', { sha256 });
    }
  }

  async #addEntries(root: OpenedDirectory, agent: string, level: number): Promise<void> {
    for (const directories = [root]; ;) {
      const directory = directories.pop();
      if (!directory) return;
      for (const entry of directory.entries) {
        if (entry.kind === 'directory') {
          if (entry.sha256 === undefined) directories.push(await entry.open());
          else this.#want(entry.sha256, agent, level);
        } else if (entry.kind === 'file' && level > levels.listed) {
          const sql = 'INSERT INTO contents (sha256, agent) VALUES (:sha256, :agent) ON CONFLICT DO NOTHING';
          this.index.run(sql, { sha256: bytesOf(entry.sha256), agent });
        }
      }
    }
  }

  #want(manifest: string, agent: string, level: number): void {
    this.index.run(
      `INSERT INTO contents (sha256, agent, wanted) VALUES (:sha256, :agent, :level)
       ON CONFLICT DO UPDATE SET wanted = max(wanted, excluded.wanted)`,
      { sha256: bytesOf(manifest), agent, level },
    );
  }
}

function bytesOf(sha256: string): Buffer {
  return Buffer.from(sha256, 'hex');
}
