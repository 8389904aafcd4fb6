import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { readTurnLog, writeTurnLog } from '@suzumio/store/content/turn-logs';

let projectDir: string;
beforeEach(async () => {
  projectDir = await mkdtemp(join(tmpdir(), 'suzumio-logs-'));
});
afterEach(() => rm(projectDir, { recursive: true }));

const attempt = { turn_id: 'turn_1', number: 1 };

test('the last log of an attempt stands', async () => {
  await writeTurnLog(projectDir, attempt, Buffer.from('first'));
  await writeTurnLog(projectDir, attempt, Buffer.from('second'));
  expect(await readTurnLog(projectDir, attempt)).toBe('second');
  expect(await readdir(join(projectDir, 'logs'))).toEqual(['turn_1.1.log']);
});

test('a log that cannot be written leaves nothing behind', async () => {
  // What stands in its place cannot be replaced by a file.
  await mkdir(join(projectDir, 'logs', 'turn_1.1.log'), { recursive: true });
  await expect(writeTurnLog(projectDir, attempt, Buffer.from('x'))).rejects.toMatchObject({ code: 'EISDIR' });
  expect(await readdir(join(projectDir, 'logs'))).toEqual(['turn_1.1.log']);
});
