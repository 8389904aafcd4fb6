import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { blob, deltaOf, sealed, varint } from '../support/packs.js';

const mib = 1024 * 1024;
const built = JSON.stringify(new URL('../../dist/packs/pack-inspector.js', import.meta.url));

/** Inspects packs, each of another project, and says what came of it and the most memory that the process has had. */
const program = `
import { PackInspector } from ${built};
const packs = new PackInspector();
const ends = await Promise.allSettled(
  process.argv.slice(2).map((path, index) => packs.inspect('project-' + index, path)),
);
await packs.close();
const found = ends.map(({ value, reason }) => value ?? reason.message);
console.log(JSON.stringify({ found, mostMib: process.resourceUsage().maxRSS / 1024 }));
`;

async function inspect(...paths: string[]): Promise<{ found: unknown[]; mostMib: number }> {
  // The kernel's measure begins with what the parent had, so that the parent is a small one.
  const args = ['-c', '"$@"; exit $?', 'sh', process.execPath, join(base, 'inspect.mjs'), ...paths];
  const { stdout } = await promisify(execFile)('sh', args);
  return JSON.parse(stdout) as { found: unknown[]; mostMib: number };
}

let base: string;
beforeAll(() => {
  base = mkdtempSync(join(tmpdir(), 'suzumio-packs-'));
  writeFileSync(join(base, 'inspect.mjs'), program);
});
afterAll(() => {
  rmSync(base, { recursive: true, force: true });
});

function kept(name: string, objects: Buffer[]): string {
  const path = join(base, name);
  writeFileSync(path, sealed(Buffer.concat(objects), objects.length));
  return path;
}

test('however large its objects are, a pack takes little memory, and so do two at once', async () => {
  const text = blob(Buffer.from('0123456789'));
  const [small, zeros] = [kept('small', [text]), kept('zeros', [blob(Buffer.alloc(256 * mib))])];
  // Inserts 127 bytes with each command.
  const commands = Buffer.alloc(128 * mib, Buffer.alloc(128).fill(127, 0, 1));
  const delta = Buffer.concat([Buffer.from([10, ...varint(127 * mib)]), commands]);
  const deltas = kept('deltas', [text, deltaOf(text.length, delta)]);
  const many = kept('many', Array<Buffer>(500_000).fill(text));

  const least = await inspect(small);
  expect(least.found).toEqual([1]);
  const most = await inspect(zeros, deltas, zeros, many);
  expect(most.found).toEqual([1, 2, 1, 500_000]);
  expect(most.mostMib - least.mostMib).toBeLessThan(128);
});
