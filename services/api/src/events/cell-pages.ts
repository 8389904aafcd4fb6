import type { CellEvent } from '@suzumio/contract/operations/cell-events';
import { isSuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { Labels } from '@suzumio/contract/model/labels';
import type { Cell } from '@suzumio/store/cell/cell';
import { sizeOf, type TimelineRow } from '@suzumio/store/cell/cell-timeline';
import { listEvents } from '@suzumio/store/projects/events';

/** What the cell's timeline has at a number: an event, or a notice about a project. */
export interface CellEntry {
  number: number;
  project: string;
  labels: Labels;
  told: { event: CellEvent } | { notice: 'reset' | 'deleted' | 'damaged'; epoch: number };
}

export interface CellPage {
  epoch: number;
  newest: number;
  entries: CellEntry[];
  /** The last number that the page covers: entries of projects that are gone meanwhile are left out. */
  last: number;
}

/** The most entries of a page, and the most rows that one looks at. */
const pageSize = 200;

/** The cell's timeline after a number. */
export async function cellPage(cell: Cell, after: number, limit = pageSize): Promise<CellPage> {
  const { timeline } = cell.catalog;
  const { epoch, newest } = timeline.position();
  const entries: CellEntry[] = [];
  let last = after;
  for (const row of timeline.rows(after, pageSize)) {
    const left = limit - entries.length;
    if (left <= 0) return { epoch, newest, entries, last };
    const first = Math.max(after, row.last - sizeOf(row));
    const upTo = Math.min(row.last, first + left);
    entries.push(...(await entriesOf(cell, row, first, upTo)));
    last = upTo;
    if (upTo < row.last) return { epoch, newest, entries, last };
  }
  return { epoch, newest, entries, last: entries.length === 0 && last === after ? Math.max(after, newest) : last };
}

/** The entries of a row with the numbers after `first`, up to `upTo`. */
async function entriesOf(cell: Cell, row: TimelineRow, first: number, upTo: number): Promise<CellEntry[]> {
  const { project, labels, kind, epoch } = row;
  if (kind === 'deleted' || kind === 'damaged') {
    return [{ number: row.last, project, labels, told: { notice: kind, epoch } }];
  }
  const numberOf = (seq: number) => row.last - (row.to - seq);
  const notice = kind === 'reset' && first < numberOf(row.from);
  const entries: CellEntry[] = notice
    ? [{ number: numberOf(row.from), project, labels, told: { notice: 'reset', epoch } }]
    : [];
  const from = Math.max(row.from, row.to - (row.last - first));
  const events = await eventsOf(cell, row, from, row.to - (row.last - upTo));
  return [
    ...entries,
    ...events.map((event): CellEntry => ({ number: numberOf(event.seq), project, labels, told: { event } })),
  ];
}

/** Events of a row; none where its project was deleted, restored or damaged since, which a later row tells. */
async function eventsOf(
  cell: Cell,
  { project, epoch }: Pick<TimelineRow, 'project' | 'epoch'>,
  after: number,
  upTo: number,
): Promise<CellEvent[]> {
  if (upTo <= after) return [];
  try {
    return await cell.stores.use(project, (store) =>
      store.snapshot((reader) =>
        listEvents(reader, { after, before: upTo + 1, limit: upTo - after })
          .items.filter(({ id }) => id.startsWith(`${epoch}-`))
          .map((event): CellEvent => ({ project, ...event })),
      ),
    );
  } catch (error) {
    if (isSuzumioError(error, 'project-unknown')) return [];
    await cell.catalog.timeline.note([{ project, at: undefined, mark: undefined }]);
    return [];
  }
}

/** The newest events of all projects that `wanted` has, by their clocks. */
export async function newestOfCell(
  cell: Cell,
  limit: number,
  wanted: (entry: Pick<CellEntry, 'labels'> & { event: CellEvent }) => boolean,
): Promise<CellEvent[]> {
  const found: CellEvent[] = [];
  for (const { project, epoch, to, labels } of cell.catalog.timeline.newest(limit)) {
    const events = await eventsOf(cell, { project, epoch }, Math.max(0, to - limit), to);
    found.push(...events.filter((event) => wanted({ labels, event })));
    found.sort((a, b) => (a.createdAt < b.createdAt ? -1 : a.createdAt > b.createdAt ? 1 : 0));
    found.splice(0, found.length - limit);
  }
  return found;
}
