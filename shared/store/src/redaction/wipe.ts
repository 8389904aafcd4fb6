import { Worker } from 'node:worker_threads';
import type { SqlReader } from '../sqlite/sql.js';
import type { Database } from '../sqlite/tx.js';

/** The thread's compiled entry: beside this file, but where this one runs from its source. */
const threadEntry = new URL(
  import.meta.url.endsWith('.ts') ? '../../dist/redaction/wipe-thread.js' : './wipe-thread.js',
  import.meta.url,
);

/** How many redactions have left their bytes in the free space of the database's files. */
export function wipesDue(reader: SqlReader): number {
  return reader.get<{ due: number }>('SELECT wipes_due AS due FROM projects')?.due ?? 0;
}

/**
 * Rewrites a database without what it has let go of: SQLite leaves removed rows in the free space of its file and of its
 * write-ahead log. It is done in a thread; meanwhile others read, and who wants to write waits.
 *
 * @returns whether that was possible: not while somebody reads or writes without pause, nor on a full disk
 */
export async function wipe(store: Database, file: string): Promise<boolean> {
  const due = wipesDue(store.reader);
  if (due === 0) return true;
  if (!(await wipedInThread(file))) return false;
  // Another redaction may have come meanwhile.
  await store.write((tx) =>
    tx.run('UPDATE projects SET wipes_due = wipes_due - :due WHERE wipes_due >= :due', { due }),
  );
  return wipesDue(store.reader) === 0;
}

function wipedInThread(file: string): Promise<boolean> {
  return new Promise((resolve) => {
    const thread = new Worker(threadEntry, { workerData: file });
    thread.on('message', (wiped: boolean) => resolve(wiped));
    thread.on('error', () => resolve(false));
    thread.on('exit', () => resolve(false));
  });
}
