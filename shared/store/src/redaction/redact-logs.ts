import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { parseLogName, writeTurnLog } from '../content/turn-logs.js';

/** Removes a text from what the containers of turns wrote, in the logs that are kept. */
export async function redactLogs(projectDir: string, without: (text: string) => string): Promise<void> {
  const directory = join(projectDir, 'logs');
  for (const name of await readdir(directory).catch(() => [])) {
    const path = join(directory, name);
    const log = await readFile(path, 'utf8').catch(() => undefined);
    const redacted = log === undefined ? undefined : without(log);
    if (redacted === undefined || redacted === log) continue;
    const of = parseLogName(name);
    if (of) await writeTurnLog(projectDir, { turn_id: of.turn, number: of.attempt }, Buffer.from(redacted));
    // Half written: by a process that was killed, or by one whose sender will send it again.
    else await rm(path, { force: true });
  }
}
