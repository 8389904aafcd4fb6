import type { SqlReader } from '../sqlite/sql.js';
import type { Database } from '../sqlite/tx.js';
import { threadAnswer } from '../thread-answer.js';

/** The thread's compiled entry: beside this file, but where this one runs from its source. */
const threadEntry = new URL(
  import.meta.url.endsWith('.ts') ? '../../dist/redaction/wipe-thread.js' : './wipe-thread.js',
  import.meta.url,
);

/** How many redactions have left their bytes in the free space of the database's files. */
export function wipesDue(reader: SqlReader): number {
  return reader.get<{ due: number }>('SELECT wipes_due AS due FROM projects')?.due ?? 0;
}

/** What became of a wipe: `in-use` while others read or write without pause. */
export type Wipe = { outcome: 'done' | 'in-use' } | { outcome: 'failed'; error: Error };

/**
 * Rewrites a database without what it has let go of: SQLite leaves removed rows in the free space of its file and of its
 * write-ahead log. It is done in a thread; meanwhile others read, and who wants to write waits.
 *
 * @returns `failed` where the disk is full or fails; the next wipe tries again
 */
export async function wipe(store: Database, file: string): Promise<Wipe> {
  const due = wipesDue(store.reader);
  if (due === 0) return { outcome: 'done' };
  const wiped = await wipeFile(file);
  if (wiped.outcome !== 'done') return wiped;
  // Another redaction may have come meanwhile.
  await store.write((tx) =>
    tx.run('UPDATE projects SET wipes_due = wipes_due - :due WHERE wipes_due >= :due', { due }),
  );
  return { outcome: wipesDue(store.reader) === 0 ? 'done' : 'in-use' };
}

/** The same with any database, whatever it has let go of. */
export async function wipeFile(file: string): Promise<Wipe> {
  try {
    return { outcome: (await threadAnswer<boolean>(threadEntry, file)) ? 'done' : 'in-use' };
  } catch (error) {
    return { outcome: 'failed', error: error as Error };
  }
}
