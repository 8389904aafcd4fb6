import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { errnoOf } from '../../files/errno.js';

/** Names the turn's directory in the environment of all that runs for it. It opens nothing. */
export const turnMark = 'SUZUMIO_TURN_MARK';

const roundMs = 20;

/**
 * Kills the processes in whose environment one of these variables stands, and those that they start meanwhile. Where the
 * system does not show its processes there are none.
 *
 * @param beginnings of variables, `NAME=value`
 * @returns the ids of those that do not end for as long as `patienceMs`
 */
export async function killMarked(beginnings: readonly string[], patienceMs: number): Promise<number[]> {
  const giveUpAt = performance.now() + patienceMs;
  for (;;) {
    const found = await marked(beginnings);
    if (found.length === 0 || performance.now() > giveUpAt) return found;
    for (const pid of found) killIfThere(pid);
    await sleep(roundMs);
  }
}

async function marked(beginnings: readonly string[]): Promise<number[]> {
  const pids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name));
  const environments = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '')));
  return pids
    .filter((_, at) =>
      environments[at]?.split('\0').some((variable) => beginnings.some((beginning) => variable.startsWith(beginning))),
    )
    .map(Number);
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if (errnoOf(error) !== 'ESRCH') throw error;
  }
}
