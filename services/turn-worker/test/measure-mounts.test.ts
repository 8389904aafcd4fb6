import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { hostPaths } from '@suzumio/runtime/disk/this-host';
import { defaultPolicy } from '@suzumio/core/policy/policy';
import type { MeasuredMount } from '@suzumio/protocol/attempts';
import { mountable } from '../../../test/support/mountable.js';
import { measureMounts } from '../src/attempt/measure-mounts.js';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(mountable, 'suzumio-measured-'));
  await mkdir(`${root}/data/deep`, { recursive: true });
  await writeFile(`${root}/data/a.csv`, 'abc');
  await writeFile(`${root}/data/deep/b.csv`, 'de');
});
afterEach(() => rm(root, { recursive: true }));

/** Measures directories below `root`, all of which may be mounted. */
function measured(sources: Record<string, string>, entries = 1_000): Promise<MeasuredMount[]> {
  const mounts = Object.entries(sources).map(([target, source]) => ({
    target,
    source: join(root, source),
    readonly: true,
  }));
  const host = {
    policyOf: () => ({ ...defaultPolicy, mounts: { roots: [{ path: join(root, 'data'), readonly: true }] } }),
    mountable: () => hostPaths([], { mounting: true }),
  };
  const sandbox = {
    image: 'suzumio-runner:dev',
    network: 'none',
    mounts,
    env: {},
    memoryBytes: 1024,
    cpus: 1,
    pids: 64,
    readOnlyRoot: true,
    tmpfs: {},
    keep: 'never' as const,
    keepForMs: 0,
  };
  const request = { backend: 'docker' as const, sandbox, timeoutMs: 1_000 };
  return measureMounts(host, { cell: 'c', project: 'p' }, request, { entries, ms: 10_000 });
}

test('directories and files are measured, whatever is in them', async () => {
  await symlink('/', `${root}/data/deep/up`);
  expect(await measured({ '/data': 'data', '/deep': 'data/deep', '/one': 'data/a.csv' })).toEqual([
    { target: '/data', files: 2, bytes: 5, more: false },
    { target: '/deep', files: 1, bytes: 2, more: false },
    { target: '/one', files: 1, bytes: 3, more: false },
  ]);
});

test('counting ends at its bounds, and says so', async () => {
  for (let n = 0; n < 20; n += 1) await writeFile(`${root}/data/deep/f${n}`, 'x');
  expect(await measured({ '/deep': 'data/deep' }, 10)).toMatchObject([{ target: '/deep', files: 10, more: true }]);
  const depths = Array.from({ length: 50 }, () => 'd').join('/');
  await mkdir(`${root}/data/${depths}`, { recursive: true });
  await writeFile(`${root}/data/${depths}/hidden`, 'x');
  expect(await measured({ '/d': 'data/d' })).toEqual([{ target: '/d', files: 0, bytes: 0, more: true }]);
});

test('nothing is looked at that the policy does not allow', async () => {
  await mkdir(`${root}/closed`);
  await writeFile(`${root}/closed/secret`, 'A secret.');
  await symlink(`${root}/closed`, `${root}/data/out`);
  expect(await measured({ '/closed': 'closed' })).toEqual([]);
  expect(await measured({ '/out': 'data/out' })).toEqual([]);
});
