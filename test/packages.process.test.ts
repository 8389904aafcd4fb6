import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

const repository = fileURLToPath(new URL('..', import.meta.url));
const packages = [
  ...['protocol', 'contract', 'core', 'store', 'runtime'].map((name) => `shared/${name}`),
  ...['api', 'control-plane', 'turn-worker'].map((name) => `services/${name}`),
  ...['runner', 'cli', 'sdk'],
];

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'suzumio-packages-'));
  for (const directory of packages) {
    plant(`${directory}/package.json`, JSON.stringify({ name: `@suzumio/${basename(directory)}` }));
    plant(`${directory}/src/a/one.ts`, 'export const one = 1;\n');
  }
});
afterEach(() => rmSync(root, { recursive: true }));

/** Writes a file of the tree that is judged. */
function plant(path: string, text: string): void {
  const file = join(root, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

/** What the tree is told of its imports. */
function brokenRules(): string[] {
  const script = join(repository, 'scripts/import-rules.mjs');
  const { status, stdout, stderr } = spawnSync(process.execPath, [script], { cwd: root, encoding: 'utf8' });
  const lines = stdout.split('\n').filter((line) => line !== '');
  if (stderr !== '' || status !== (lines.length > 0 ? 1 : 0)) throw new Error(`${String(status)}: ${stdout}${stderr}`);
  return lines;
}

/** A directory of the tree, what a file in it imports, and the rule that forbids it. */
const cases = [
  ['shared/store/src/b', '@suzumio/core/a/one'],
  ['shared/store/src/b', 'better-sqlite3'],
  ['services/api/src/b', '@suzumio/control-plane/a/one'],
  ['shared/protocol/src/b', '@suzumio/contract/a/one', 'floor-protocol'],
  ['shared/contract/src/b', '@suzumio/core/a/one', 'floor-contract'],
  ['shared/core/src/b', '@suzumio/store/a/one', 'floor-core'],
  ['shared/store/src/b', '@suzumio/runtime/a/one', 'floor-store'],
  ['shared/runtime/src/b', '@suzumio/store/a/one', 'floor-runtime'],
  ['shared/store/src', './a/one.js', 'store-root-on-sqlite'],
  ['shared/core/src/b', '../../../contract/src/a/one.js', 'packages-by-their-names'],
  ['services/api/src/b', '@suzumio/turn-worker/a/one', 'services-do-not-import-each-other'],
  ['services/api/test', '@suzumio/cli/a/one', 'services-below-cli'],
  ['runner/src/b', '@suzumio/contract/a/one', 'runner-sees-the-protocol-alone'],
  ['sdk/src/b', '@suzumio/core/a/one', 'sdk-stands-alone'],
  ['sdk/src/b', 'node:fs', 'sdk-stands-alone'],
  ['services/turn-worker/src/b', '@suzumio/store/a/one', 'worker-has-no-store'],
  ['services/turn-worker/src/b', '@suzumio/control-plane/a/one', 'worker-has-no-store'],
  ['shared/core/src/b', 'node:fs/promises', 'core-reads-no-disk'],
  ['scripts', 'better-sqlite3', 'sql-lives-in-the-store'],
] as const;

describe('the rules on imports', () => {
  test('refuse these, and no others', () => {
    for (const [at, [directory, name]] of cases.entries())
      plant(`${directory}/${at}.ts`, `export type * from '${name}';\n`);
    const broken = cases.flatMap(([directory, , rule], at) => (rule ? [`${rule} ${directory}/${at}.ts`] : []));
    const found = brokenRules().map((line) => /^([\w-]+): (\S+) imports/.exec(line)?.slice(1).join(' '));
    expect(found.sort()).toEqual(broken.sort());
  });

  test('refuse files that need each other, by their types too', () => {
    plant('cli/src/a/two.ts', "export { three } from './three.js';\n");
    plant('cli/src/a/three.ts', "import type { two } from './two.js';\n");
    expect(brokenRules()).toEqual([expect.stringMatching(/^no-circular: cli\/src\/a\/(two|three)\.ts -> /)]);
  });

  test('refuse folders that need each other, though no file does', () => {
    plant('shared/store/src/a/two.ts', "export { three } from '../b/deep/three.js';\n");
    plant('shared/store/src/b/deep/three.ts', 'export const three = 3;\n');
    plant('shared/store/src/b/deep/four.ts', "const { one } = await import('../../a/one.js');\n");
    expect(brokenRules()).toEqual([expect.stringMatching(/^no-circular-folders: shared\/store\/src\/[ab]/)]);
  });
});

interface LockedPackage {
  dependencies?: Record<string, string>;
  link?: boolean;
  resolved?: string;
}

/** The names of everything that installing a workspace of this repository installs with it, from the lock. */
function installedWith(workspace: string): Set<string> {
  const { packages } = JSON.parse(readFileSync(join(repository, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, LockedPackage>;
  };
  const found = new Set<string>();
  const visit = (path: string) => {
    for (const name of Object.keys(packages[path]?.dependencies ?? {})) {
      const at = locate(packages, path, name);
      if (found.has(at)) continue;
      found.add(at);
      visit(packages[at]?.link ? (packages[at].resolved ?? '') : at);
    }
  };
  visit(workspace);
  return new Set([...found].map((path) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)));
}

/** Where Node finds a package from another one: the nearest `node_modules` above that has it. */
function locate(packages: Record<string, LockedPackage>, from: string, name: string): string {
  for (let directory = from; ; directory = directory.slice(0, Math.max(0, directory.lastIndexOf('/')))) {
    const path = `${directory === '' ? '' : `${directory}/`}node_modules/${name}`;
    if (path in packages) return path;
    if (directory === '') throw new Error(`${name}, which ${from} needs, is not in the lock`);
  }
}

describe('what an installation brings with it', () => {
  const heavy = ['better-sqlite3', 'bullmq', 'dockerode', 'express', 'ioredis', 'prom-client'];

  test('the control plane has a database, a queue and a server', () => {
    expect([...installedWith('services/toolhost')]).toEqual(
      expect.arrayContaining(['better-sqlite3', 'bullmq', 'express']),
    );
  });

  test('the runner has none of these, and of ours the protocol alone', () => {
    const installed = installedWith('runner');
    expect(heavy.filter((name) => installed.has(name))).toEqual([]);
    expect([...installed].filter((name) => name.startsWith('@suzumio/'))).toEqual(['@suzumio/protocol']);
  });

  test('the SDK has nothing at all', () => {
    expect([...installedWith('sdk')]).toEqual([]);
  });
});
