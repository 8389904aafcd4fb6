import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { loadPolicy } from '@suzumio/runtime/disk/load-policy';
import { hostPaths } from '@suzumio/runtime/disk/this-host';
import { requireAllowed } from '../../src/attempt/host.js';
import { Repositories } from '../../src/git/repositories.js';
import { mountable } from '../../../../test/support/mountable.js';
import { TestRepository } from '../support/repository.js';

const bounds = { maxBytes: 64 * 1024 ** 2, maxFileBytes: 16 * 1024 ** 2, maxEntries: 1_000 };
const of = { cell: 'cell', project: 'tides' };

let base: string;
let shared: string;
let source: string;
let secret: string;
let policyFile: string;
let clones = 0;

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(mountable, 'suzumio-git-')));
  shared = join(base, 'shared');
  source = join(shared, 'tides');
  secret = join(base, 'secret');
  new TestRepository(source).commit({ 'tides.py': 'print(1)\n' });
  new TestRepository(secret).commit({ 'key.txt': 'secret\n' });
  policyFile = join(base, 'policy.yaml');
});

afterEach(() => rmSync(base, { recursive: true, force: true }));

/** What an agent does that may write above the source. */
function swap(): void {
  renameSync(source, `${source}.away`);
  symlinkSync(secret, source);
}

interface Worker {
  /** The names of the files in a clone, or what the request is refused with. */
  clone(hooks?: { checked?: () => void }): Promise<string>;
}

/** A worker that has read its policy. */
function workerWith(policyText: string, writable: () => string[] = () => []): Worker {
  writeFileSync(policyFile, `backends: [docker, process]\n${policyText}`);
  const policy = loadPolicy(policyFile);
  const repositories = new Repositories({ directory: join(base, 'worker/git'), bounds, cloneMs: 300_000 });
  const host = { policyOf: () => policy, mountable: () => hostPaths([], { mounting: true, writable }) };
  const allow = (git: string) =>
    requireAllowed(host, of, {
      backend: 'process',
      sandbox: { env: {}, mounts: [] } as unknown as Parameters<typeof requireAllowed>[2]['sandbox'],
      timeoutMs: 1_000,
      clone: { git, branch: 'suzumio/developer' },
    });
  return {
    async clone({ checked = () => undefined } = {}) {
      const to = join(base, 'worker', `workspace-${++clones}`);
      mkdirSync(to, { recursive: true });
      const author = { name: 'Aoi', email: 'aoi@tides.invalid' };
      const check = (git: string) => {
        allow(git);
        checked();
      };
      try {
        allow(source);
        const request = { git: source, branch: 'suzumio/developer' };
        await repositories.clone(request, to, { author, check, signal: new AbortController().signal });
      } catch (error) {
        return (error as { code?: string } & Error).message;
      }
      return ['tides.py', 'key.txt'].filter((name) => fileIn(to, name)).join();
    },
  };
}

function fileIn(directory: string, name: string): boolean {
  try {
    return readFileSync(join(directory, name)).length > 0;
  } catch {
    return false;
  }
}

describe('a clone of a path that the policy names', () => {
  test.each([
    ['by its path', () => `git: ["${source}"]`],
    ['by a pattern', () => `git: ["${shared}/*"]`],
  ])('%s is of what stood there when the policy was read', async (_, policy) => {
    const worker = workerWith(policy());
    expect(await worker.clone()).toBe('tides.py');
    swap();
    expect(await worker.clone()).toContain('(policy: git)');
  });

  test('is of the repository that was checked, whatever is put in its place before it is fetched', async () => {
    const worker = workerWith(`git: ["${shared}/*"]`);
    expect(await worker.clone({ checked: swap })).toBe('tides.py');
  });

  test('is of nothing in a directory that agents may write', async () => {
    const writable = 'where agents may write';
    expect(
      await workerWith(`git: ["${base}/**"]\nmounts: { roots: [{ path: "${shared}", readonly: false }] }`).clone(),
    ).toContain(writable);
    expect(await workerWith(`git: ["${base}/**"]`, () => [shared]).clone()).toContain(writable);
    swap();
    expect(await workerWith(`git: ["${base}/**"]`, () => [shared]).clone()).toContain(writable);
  });

  test('is named by no policy where agents could have moved it before that is read again', () => {
    const policy = `git: ["${source}"]\nmounts: { roots: [{ path: "${shared}", readonly: false }] }`;
    expect(() => workerWith(policy)).toThrow(/policy\.yaml:2:7 {2}git\[0\]: lies in .*shared, which agents may mount/);
    swap();
    expect(() => workerWith(policy)).toThrow('git[0]: lies in');
  });
});
