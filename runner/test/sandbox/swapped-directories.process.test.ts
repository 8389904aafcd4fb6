import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { SandboxRefusal } from '@suzumio/runner/sandbox/paths/refusal';
import { createSandbox, type TestSandbox } from '../support/sandbox.js';

/** Swaps `dir` for a link that leads out, and `dir/file` for another, as fast as it can. */
const attack = `
  const { renameSync, symlinkSync, unlinkSync } = require('node:fs');
  const swap = (path, target) => {
    renameSync(path, path + '.away');
    symlinkSync(target, path);
    unlinkSync(path);
    renameSync(path + '.away', path);
  };
  process.stdout.write('ready');
  for (;;) {
    for (let times = 0; times < 100; times += 1) {
      try { swap('dir', process.argv[1]); } catch {}
      try { swap('dir/file', process.argv[1] + '/secret'); } catch {}
    }
  }
`;

let box: TestSandbox;
let attacker: ChildProcess;

beforeEach(async () => {
  box = await createSandbox();
  await mkdir(join(box.workspace, 'dir'));
  await writeFile(join(box.workspace, 'dir', 'file'), 'inside\n');
  await writeFile(join(box.outside, 'secret'), 'outside\n');
  await writeFile(join(box.outside, 'file'), 'outside\n');
  attacker = spawn(process.execPath, ['-e', attack, box.outside], {
    cwd: box.workspace,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(attacker.stdout as NodeJS.ReadableStream, 'data');
});
afterEach(async () => {
  attacker.kill('SIGKILL');
  if (attacker.exitCode === null && attacker.signalCode === null) await once(attacker, 'exit');
  await box.remove();
});

/** What may come of a call while directories are swapped: what is inside, or that it was not there just then. */
const possible = new Set([
  'path-outside',
  'path-changed',
  'file-unknown',
  'directory-unknown',
  'file-changed',
  'file-exists',
  'not-a-file',
  'patch-mismatch',
]);

test('tools read, write and list nothing outside while a program swaps directories for links', async () => {
  const calls = [
    () => box.run('file.read', { path: 'dir/file' }),
    () => box.run('file.list', { path: 'dir' }),
    () => box.run('file.list', { recursive: true }),
    () => box.run('file.write', { path: 'dir/file', content: 'inside\n' }),
    () => box.run('file.write', { path: 'dir/new', content: 'written\n' }),
    () => box.run('file.write', { path: 'dir/deep/new', content: 'written\n', createDirs: true }),
    () => box.run('file.patch', { path: 'dir/file', search: 'inside', replace: 'inside' }),
    () => box.run('file.patch', { path: 'dir/file', search: 'outside', replace: 'read' }),
    () => box.run('file.patch', { operations: [{ op: 'delete', path: 'dir/new' }] }),
    // Bash's own pwd follows the links of the name by which it was started.
    () => box.run('shell.exec', { command: '/bin/pwd -P', cwd: 'dir' }),
  ];
  const came = new Map<string, number>();
  for (let round = 0; round < 150; round += 1) {
    for (const [index, call] of calls.entries()) {
      // A process takes its time to start.
      if (index === calls.length - 1 && round % 15 !== 0) continue;
      try {
        const { output } = await call();
        came.set(`${index} done`, (came.get(`${index} done`) ?? 0) + 1);
        // The content, a listed name, the working directory; a link's own text may well be shown.
        expect(output.split('\n').filter((line) => /^(\d+\toutside|.*secret\t.*|\/.*\/outside)$/.test(line))).toEqual(
          [],
        );
      } catch (error) {
        if (!(error instanceof SandboxRefusal)) throw error;
        expect([...possible, error.message]).toContain(possible.has(error.code) ? error.code : error);
        came.set(error.code, (came.get(error.code) ?? 0) + 1);
      }
    }
  }
  expect((await readdir(box.outside)).sort()).toEqual(['file', 'secret']);
  expect(await readFile(join(box.outside, 'file'), 'utf8')).toBe('outside\n');
  expect(await readFile(join(box.outside, 'secret'), 'utf8')).toBe('outside\n');
  // Both sides got their turns, or nothing was shown.
  expect(came.get('0 done')).toBeGreaterThan(0);
  expect(came.get('path-outside')).toBeGreaterThan(0);
});
