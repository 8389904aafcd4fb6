import type { InboxItem } from '@suzumio/sdk/client';

export type LetterItem = Extract<InboxItem, { kind: 'message' }>;

/** A row of the inbox: something that waits, or a thread with all of its letters. */
export interface InboxRow {
  /** The item, of a thread the newest. */
  readonly item: InboxItem;
  /** All that it stands for, the newest first. */
  readonly all: readonly InboxItem[];
}

/** The groups of the inbox, by what hangs on each. */
export const groups: readonly [title: string, kinds: readonly InboxItem['kind'][]][] = [
  ['Somebody is held up', ['failure']],
  ['Ready for you', ['report']],
  ['Before it stops', ['model', 'budget', 'pause']],
];
export const written = 'Written to you';

/** The rows in the order in which they stand on the page: threads by their newest letters. */
export function rowsOf(items: readonly InboxItem[]): InboxRow[] {
  const waiting = groups.flatMap(([, kinds]) => items.filter(({ kind }) => kinds.includes(kind)));
  const letters = items.filter((item) => item.kind === 'message');
  const newestFirst = letters.toSorted((a, b) =>
    a.at === b.at ? b.message.seq - a.message.seq : a.at < b.at ? 1 : -1,
  );
  const threads = Map.groupBy(newestFirst, ({ project, message }) => `${project} ${message.threadId}`);
  return [
    ...waiting.map((item) => ({ item, all: [item] })),
    ...[...threads.values()].flatMap((all) => (all[0] === undefined ? [] : [{ item: all[0], all }])),
  ];
}

export function isOf(row: InboxRow, id: string | undefined): boolean {
  return row.all.some((item) => item.id === id);
}

/** The project and the message of an item that is a letter. */
export function letterOf(id: string): { project: string; message: string } | undefined {
  const [, project, message] = /^([^:]+):message:([^:]+)$/.exec(id) ?? [];
  return project === undefined || message === undefined ? undefined : { project, message };
}
