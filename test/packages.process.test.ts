import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

const repository = fileURLToPath(new URL('..', import.meta.url));
const depcruise = join(repository, 'node_modules/.bin/depcruise');

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'suzumio-packages-'));
  for (const file of ['.dependency-cruiser.cjs', 'package.json', 'tsconfig.json']) {
    cpSync(join(repository, file), join(root, file));
  }
  plant('test/none.ts', 'export {};\n');
  mkdirSync(join(root, 'node_modules/@suzumio'), { recursive: true });
  const floors = readdirSync(join(repository, 'shared')).filter((name) => name !== 'node_modules');
  for (const floor of floors) {
    cpSync(join(repository, 'shared', floor, 'package.json'), plant(`shared/${floor}/package.json`, ''));
    plant(`shared/${floor}/src/a/one.ts`, 'export const one = 1;\n');
    symlinkSync(join(root, 'shared', floor), join(root, 'node_modules/@suzumio', floor));
  }
});
afterEach(() => rmSync(root, { recursive: true }));

/** Writes a file of the tree that is judged. */
function plant(path: string, text: string): string {
  const file = join(root, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
}

/** The rules that a tree breaks. */
function brokenRules(): Promise<string[]> {
  const args = [depcruise, '--config', '.dependency-cruiser.cjs', '--output-type', 'json', 'shared'];
  return new Promise((resolve, reject) => {
    execFile(process.execPath, args, { cwd: root, maxBuffer: 1 << 26 }, (error, stdout, stderr) => {
      try {
        const { summary } = JSON.parse(stdout) as { summary: { violations: { rule: { name: string } }[] } };
        resolve([...new Set(summary.violations.map(({ rule }) => rule.name))].sort());
      } catch {
        reject(error ?? new Error(stderr));
      }
    });
  });
}

describe('the rules on imports', () => {
  test('let a floor import what it stands on', async () => {
    plant('shared/store/src/b/two.ts', "export { one } from '@suzumio/core/a/one';\n");
    expect(await brokenRules()).toEqual([]);
  });

  test('refuse an import against the direction, though npm makes every package resolve everywhere', async () => {
    plant('shared/core/src/b/two.ts', "export { one } from '@suzumio/store/a/one';\n");
    expect(await brokenRules()).toEqual(['floor-core']);
  });

  test('refuse a path that leads out of a package', async () => {
    plant('shared/core/src/b/two.ts', "export { one } from '../../../contract/src/a/one.js';\n");
    expect(await brokenRules()).toEqual(['packages-by-their-names']);
  });

  test('refuse folders that need each other, though no file does', async () => {
    plant('shared/store/src/a/two.ts', "export { three } from '../b/three.js';\n");
    plant('shared/store/src/b/three.ts', 'export const three = 3;\n');
    plant('shared/store/src/b/four.ts', "export { one } from '../a/one.js';\n");
    expect(await brokenRules()).toEqual(['no-circular-folders']);
  });

  test('refuse what all subjects of the store use to need one of them', async () => {
    plant('shared/store/src/rows.ts', "export { one } from './a/one.js';\n");
    expect(await brokenRules()).toEqual(['store-root-on-sqlite']);
  });

  test('refuse the disk to what is pure', async () => {
    plant('shared/core/src/b/two.ts', "export { readFileSync } from 'node:fs';\n");
    expect(await brokenRules()).toEqual(['core-reads-no-disk']);
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
