import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

// Starts: services/turn-worker.

// A directory may have so many names that a list of them takes more memory than a worker has. Here it has as little for as fewer.

const files = 60_000;
const heapMb = 16;

let root: string;
let full: string;
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'suzumio-large-'));
  full = join(root, 'full');
  mkdirSync(full);
  for (let n = 0; n < files; n += 1) writeFileSync(join(full, `${String(n)}${'n'.repeat(240)}`), '');
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

const run = promisify(execFile);

/** What a module of the worker comes to in a process with little memory. */
async function withLittleMemory(module: string, expression: string): Promise<unknown> {
  const from = new URL(`../dist/files/${module}.js`, import.meta.url).href;
  const script = `import * as it from ${JSON.stringify(from)}; console.log(JSON.stringify(await (${expression}) ?? null))`;
  const limited = [`--max-old-space-size=${String(heapMb)}`, '--input-type=module', '--eval', script];
  return JSON.parse((await run(process.execPath, limited)).stdout);
}

test('a directory of any length is measured in little memory', async () => {
  const bounds = JSON.stringify({ maxBytes: 1e12, maxEntries: 2 * files });
  expect(await withLittleMemory('tree-size', `it.treeSize([${JSON.stringify(root)}], ${bounds})`)).toEqual({
    bytes: 4096 * (files + 1),
    entries: files + 1,
  });
});

test('of what is beyond a limit, nothing more is read', async () => {
  const few = JSON.stringify({ maxBytes: 1e12, maxEntries: 100 });
  expect(await withLittleMemory('tree-size', `it.treeSize([${JSON.stringify(full)}], ${few})`)).toMatchObject({
    entries: 101,
    beyond: 'more than 100 files and directories',
  });
});

test('a directory of any length is removed in little memory', async () => {
  await withLittleMemory('remove-tree', `it.removeTree(${JSON.stringify(full)})`);
  expect(readdirSync(root)).toEqual([]);
});
