import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseLogName, writeTurnLog } from '../content/turn-logs.js';

/** Removes a text from what the containers of turns wrote, in the logs that are kept. */
export async function redactLogs(projectDir: string, without: (text: string) => string): Promise<void> {
  const directory = join(projectDir, 'logs');
  for (const name of await readdir(directory).catch(() => [])) {
    const { turn, attempt } = parseLogName(name) ?? {};
    if (turn === undefined || attempt === undefined) continue;
    const log = await readFile(join(directory, name), 'utf8').catch(() => undefined);
    if (log === undefined) continue;
    const redacted = without(log);
    if (redacted !== log) await writeTurnLog(projectDir, { turn_id: turn, number: attempt }, Buffer.from(redacted));
  }
}
