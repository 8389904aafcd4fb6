import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { AttemptRef } from '@suzumio/protocol/attempts';
import { eventually } from '../../../test/support/poll.js';
import { makeTurnDirectories, TurnDirectory } from '../src/attempt/turn-directory.js';
import { ProcessEngine } from '../src/engine/process/process-engine.js';
import type { StartOptions } from '../src/engine/turn-engine.js';

/** Does what a runner does that is killed in the middle: it leaves a socket, and a directory that it has closed. */
const runner = `
import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
const own = mkdtempSync(join(tmpdir(), 'suzumio-git-'));
mkdirSync(join(own, 'closed/inner'), { recursive: true });
chmodSync(join(own, 'closed'), 0);
createServer().listen(join(own, 'listener-XXXXXXXX'), () => writeFileSync('made', own));
`;

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'suzumio-engine-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

describe('a killed turn that runs as a process', () => {
  test('leaves no temporary files', async () => {
    const runnerBundle = join(root, 'runner.mjs');
    writeFileSync(runnerBundle, runner);
    await makeTurnDirectories(root);
    const ref = { turn: '01999999-0000-7000-8000-000000000000', attempt: 1 } as unknown as AttemptRef;
    const directory = await TurnDirectory.create({ path: root, sockets: join(root, 'd') }, ref, undefined);
    const workspace = join(root, 'workspace');
    mkdirSync(workspace);
    const engine = new ProcessEngine({ worker: 'w', workerDir: root, runnerBundle });
    const prepared = await engine.prepare({ env: {} } as Parameters<typeof engine.prepare>[0]);
    const sandbox = await prepared.start({
      turnDirectory: directory.path,
      temporary: directory.temporary,
      workspace,
      maxLogBytes: 1_000,
    } as StartOptions);
    const made = join(workspace, 'made');
    await eventually('it has made its files', () => existsSync(made) && readFileSync(made, 'utf8') !== '');
    const own = readFileSync(made, 'utf8');
    await sandbox.kill();
    expect(own.startsWith(`${root}/d/`)).toBe(true);
    await directory.remove();
    expect(existsSync(own)).toBe(false);
    expect(readdirSync(join(root, 'd'))).toEqual([]);
  });
});

test('where no file descriptor is left, a turn does not start, and the worker goes on', async () => {
  const fixture = fileURLToPath(new URL('fixtures/no-descriptors.mjs', import.meta.url));
  const limited = ['-c', 'ulimit -n 64; exec "$0" "$1" "$2"', process.execPath, fixture, root];
  const { stdout } = await promisify(execFile)('/bin/sh', limited);
  expect(stdout).toBe('container-start-failed: The runner could not be started as a process.\n');
});
