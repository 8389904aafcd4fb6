import type { Labels } from '@suzumio/contract/model/labels';
import type { CatalogDatabase, CatalogTx } from '../sqlite/catalog-database.js';

/** Where a project stands: as its database says, or unreadable. */
export interface ProjectPosition {
  project: string;
  /** Undefined where the project's file cannot be used. */
  at: { epoch: number; seq: number; newestMs: number } | undefined;
  /** What its files looked like before that was read; undefined where they may change unseen. */
  mark: string | undefined;
}

/**
 * A run of a project's events, those after `from` up to `to`; or a notice. `reset` is a notice and then a run: what was
 * told of the project before is not its past any more, or cannot be continued.
 */
export interface TimelineRow {
  /** The number of its last entry in the cell's timeline. */
  last: number;
  project: string;
  kind: 'events' | 'reset' | 'deleted' | 'damaged';
  epoch: number;
  from: number;
  to: number;
  labels: Labels;
}

interface Row extends Omit<TimelineRow, 'labels'> {
  labels_json: string;
}

const columns = 'last, project, kind, epoch, from_seq AS "from", to_seq AS "to", labels_json';

/** How many numbers a row takes. */
export function sizeOf({ kind, from, to }: Pick<TimelineRow, 'kind' | 'from' | 'to'>): number {
  return kind === 'events' ? to - from : kind === 'reset' ? to - from + 1 : 1;
}

/**
 * One order of what happened in all projects, each event with a number: whoever knows the last number that it was told
 * misses and repeats nothing, whichever process tells it. Projects' databases are the truth; this says how far they have
 * been put in order, by those who follow the cell, and is written only while somebody does.
 */
export class CellTimeline {
  constructor(private readonly db: CatalogDatabase) {}

  /** The catalog's epoch, which a restored catalog begins anew, and the newest number. */
  position(): { epoch: number; newest: number } {
    const row = this.db.reader.get<{ epoch: number; newest: number }>(
      `SELECT (SELECT first_epoch FROM data_directory) AS epoch, (SELECT coalesce(max(last), 0) FROM cell_timeline) AS newest`,
    );
    return row ?? { epoch: 1, newest: 0 };
  }

  /** Rows with numbers after `after`, in order. */
  rows(after: number, limit: number): TimelineRow[] {
    return this.db.reader
      .all<Row>(`SELECT ${columns} FROM cell_timeline WHERE last > :after ORDER BY last LIMIT :limit`, { after, limit })
      .map(timelineRow);
  }

  /** The newest rows of the projects in which something happened last, by their clocks. */
  newest(limit: number): TimelineRow[] {
    return this.db.reader
      .all<Row>(
        `SELECT ${columns} FROM cell_timeline
         WHERE last IN (SELECT (SELECT max(last) FROM cell_timeline WHERE project = id) FROM projects)
           AND kind IN ('events', 'reset')
         ORDER BY at_ms DESC, last DESC LIMIT :limit`,
        { limit },
      )
      .map(timelineRow);
  }

  /** The marks of projects all of which is in the timeline. */
  marks(): Map<string, string> {
    const rows = this.db.reader.all<{ project: string; mark: string }>('SELECT project, mark FROM cell_timeline_marks');
    return new Map(rows.map(({ project, mark }) => [project, mark]));
  }

  /** Puts what happened since in order, as far as no other process has. Projects that are gone are left out. */
  async note(positions: readonly ProjectPosition[]): Promise<void> {
    const ordered = [...positions].sort((a, b) => (a.at?.newestMs ?? 0) - (b.at?.newestMs ?? 0));
    if (!ordered.some((position) => this.#isNews(position))) return;
    await this.db.write((tx) => {
      for (const position of ordered) this.#append(tx, position);
    });
  }

  #isNews({ project, at, mark }: ProjectPosition): boolean {
    const known = this.db.reader.get<{ mark: string }>(
      'SELECT mark FROM cell_timeline_marks WHERE project = :project',
      { project },
    );
    return (mark !== undefined && mark !== known?.mark) || nextRow(this.#lastOf(project), at) !== undefined;
  }

  #append(tx: CatalogTx, { project, at, mark }: ProjectPosition): void {
    const entry = tx.get<{ labels_json: string }>(
      'SELECT labels_json FROM projects WHERE id = :project AND deleting_epoch IS NULL',
      { project },
    );
    if (!entry) return;
    const next = nextRow(this.#lastOf(project), at);
    if (next) {
      const last = this.position().newest + sizeOf(next);
      tx.run(
        `INSERT INTO cell_timeline (last, project, kind, epoch, from_seq, to_seq, at_ms, labels_json)
         VALUES (:last, :project, :kind, :epoch, :from, :to, :atMs, :labels)`,
        { last, project, ...next, atMs: at?.newestMs ?? 0, labels: entry.labels_json },
      );
      if (next.kind === 'reset') {
        tx.run('DELETE FROM cell_timeline WHERE project = :project AND last < :last', { project, last });
      }
    }
    if (mark === undefined) return;
    tx.run(
      `INSERT INTO cell_timeline_marks (project, mark) VALUES (:project, :mark)
       ON CONFLICT (project) DO UPDATE SET mark = :mark`,
      { project, mark },
    );
  }

  #lastOf(project: string): TimelineRow | undefined {
    const row = this.db.reader.get<Row>(
      `SELECT ${columns} FROM cell_timeline WHERE project = :project ORDER BY last DESC LIMIT 1`,
      { project },
    );
    return row && timelineRow(row);
  }
}

/** What has to be told next of a project of which `last` was told last; undefined where that is all. */
function nextRow(
  last: TimelineRow | undefined,
  at: ProjectPosition['at'],
): Pick<TimelineRow, 'kind' | 'epoch' | 'from' | 'to'> | undefined {
  if (!at) {
    return last?.kind === 'damaged' ? undefined : { kind: 'damaged', epoch: last?.epoch ?? 0, from: 0, to: 0 };
  }
  const { epoch, seq } = at;
  if (!last || last.kind === 'deleted') return seq === 0 ? undefined : { kind: 'events', epoch, from: 0, to: seq };
  // Another process may have opened it before it was restored.
  if (epoch < last.epoch) return undefined;
  if (last.kind === 'damaged' || epoch > last.epoch) return { kind: 'reset', epoch, from: 0, to: seq };
  return seq > last.to ? { kind: 'events', epoch, from: last.to, to: seq } : undefined;
}

function timelineRow({ labels_json, ...row }: Row): TimelineRow {
  return { ...row, labels: JSON.parse(labels_json) as Labels };
}
