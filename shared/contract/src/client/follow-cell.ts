import type { EventType } from '../model/event.js';
import type { CellEvent } from '../operations/cell-events.js';
import type { Client } from './client.js';
import { followStream } from './event-stream.js';

export interface FollowCell {
  /** Where the cell's timeline goes on: the `next` of a list of its events. @default from now on */
  readonly after?: string | undefined;
  /** Only events of projects that have all of these labels, each as `key=value`. @default all */
  readonly label?: readonly string[] | undefined;
  /** Only events of these types. @default all */
  readonly types?: readonly EventType[] | undefined;
  /** Only events about these agents, in whichever project. @default all */
  readonly agents?: readonly string[] | undefined;
  /** What is known of a project, or of all, is over. */
  readonly onNotice?: (notice: CellNotice) => void;
  /** A connection was made: the first one, or another after it was lost. */
  readonly onOpen?: () => void;
  /** The connection was lost; it is made again until `signal` ends it. */
  readonly onLost?: () => void;
  readonly signal?: AbortSignal;
}

/**
 * - `reset`: the data directory was restored from a backup, and everything comes anew
 * - `project.reset`: a project was restored, or can be read again: its events come anew
 * - `project.deleted`, `project.damaged`: nothing more comes of a project; of one that cannot be read, for now
 */
export interface CellNotice {
  readonly type: 'reset' | 'project.reset' | 'project.deleted' | 'project.damaged';
  /** Missing where all are meant. */
  readonly project?: string;
}

const notices: readonly string[] = [
  'reset',
  'project.reset',
  'project.deleted',
  'project.damaged',
] satisfies CellNotice['type'][];

/**
 * The events of all projects, each once and in one order; a connection that is lost is resumed where it stopped. Ends when
 * `signal` is aborted.
 *
 * @throws SuzumioError when the server refuses
 */
export async function* followCell(
  api: Pick<Client, 'streamCellEvents'>,
  { after: from, label, types, agents, onNotice, onOpen, onLost, signal }: FollowCell,
): AsyncGenerator<CellEvent, void, undefined> {
  const open = (after: string | undefined, signal: AbortSignal) =>
    api.streamCellEvents({ query: { after, label, types, agents } }, { signal });
  for await (const { type, data } of followStream({ open, after: from, onOpen, onLost, signal })) {
    if (notices.includes(type)) onNotice?.({ ...(data as { project?: string }), type: type as CellNotice['type'] });
    // `ready` says where a stream without a place begins.
    else if (type !== 'ready') yield data as CellEvent;
  }
}
