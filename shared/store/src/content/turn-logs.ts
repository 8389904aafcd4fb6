import { randomBytes } from 'node:crypto';
import { readFile, rename, rm, stat, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeSubdirectory } from './make-subdirectory.js';
import type { AttemptRow } from '../rows.js';

/** What an attempt's container wrote to its output, as its worker kept it. */
export async function writeTurnLog(
  projectDir: string,
  attempt: Pick<AttemptRow, 'turn_id' | 'number'>,
  log: Uint8Array,
): Promise<void> {
  const file = logFile(projectDir, attempt);
  await makeSubdirectory(projectDir, 'logs');
  const temporary = `${file}.${randomBytes(4).toString('hex')}`;
  try {
    await writeFile(temporary, log, { mode: 0o600 });
    await rename(temporary, file);
  } catch (error) {
    // A log that does not fit is removed whole.
    await unlink(temporary).catch(() => undefined);
    throw error;
  }
}

export async function removeTurnLog(
  projectDir: string,
  attempt: Pick<AttemptRow, 'turn_id' | 'number'>,
): Promise<void> {
  await rm(logFile(projectDir, attempt), { force: true });
}

/** The size of an attempt's log, 0 where there is none. */
export async function turnLogBytes(
  projectDir: string,
  attempt: Pick<AttemptRow, 'turn_id' | 'number'>,
): Promise<number | undefined> {
  return (await stat(logFile(projectDir, attempt)).catch(() => undefined))?.size;
}

/** The log of an attempt; empty where it wrote nothing. */
export async function readTurnLog(
  projectDir: string,
  attempt: Pick<AttemptRow, 'turn_id' | 'number'>,
): Promise<string> {
  try {
    return await readFile(logFile(projectDir, attempt), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}

/** The attempt that a log file's name stands for; undefined for a partial file. */
export function parseLogName(name: string): { turn: string; attempt: number } | undefined {
  const [, turn, attempt] = /^([^.]+)\.(\d+)\.log$/.exec(name) ?? [];
  return turn === undefined ? undefined : { turn, attempt: Number(attempt) };
}

function logFile(projectDir: string, attempt: Pick<AttemptRow, 'turn_id' | 'number'>): string {
  return join(projectDir, 'logs', `${attempt.turn_id}.${String(attempt.number)}.log`);
}
