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

/** Redactions that come while a database is rewritten have it rewritten again, so often. */
const mostRounds = 3;

/**
 * Rewrites a database without what it has let go of: SQLite leaves removed rows in the free space of its file and of its
 * write-ahead log. It is done in a thread; meanwhile others read, and who wants to write waits.
 *
 * @param atLeastOnce whether this process has let go of something: another's wipe may have counted it as gone, and begun before
 * @returns `failed` where the disk is full or fails; the next wipe tries again
 */
export async function wipe(store: Database, file: string, { atLeastOnce = false } = {}): Promise<Wipe> {
  for (let round = 0; round < mostRounds; round += 1) {
    const due = wipesDue(store.reader);
    if (due === 0 && !(atLeastOnce && round === 0)) return { outcome: 'done' };
    const wiped = await wipeFile(file);
    if (wiped.outcome !== 'done') return wiped;
    // Not where another redaction has come meanwhile: its rows may have been there still.
    await store.write((tx) => tx.run('UPDATE projects SET wipes_due = 0 WHERE wipes_due = :due', { due }));
  }
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
