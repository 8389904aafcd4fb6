import { parentPort, workerData } from 'node:worker_threads';
import { isBusy, Sql } from '../sqlite/sql.js';

// The entry of the thread that `wipe` starts for a database.

/** How long others are waited for that write, or still read what was before. */
const patienceMs = 2_000;

parentPort?.postMessage(wiped(String(workerData)));

/** Whether nothing of what was removed is left in the database's files, which others may use. Throws other errors. */
function wiped(file: string): boolean {
  const sql = Sql.open(file);
  try {
    return (
      patiently(() => {
        sql.handle.exec('VACUUM');
        return true;
      }) &&
      patiently(() => {
        const [row] = sql.handle.pragma('wal_checkpoint(TRUNCATE)') as { busy: number }[];
        return row?.busy === 0;
      })
    );
  } finally {
    sql.close();
  }
}

function patiently(step: () => boolean): boolean {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    try {
      if (step()) return true;
    } catch (error) {
      if (!isBusy(error)) throw error;
    }
    if (performance.now() > deadline) return false;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
  }
}
