import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import process from 'node:process';
import { describe, expect, test } from '@jest/globals';

const run = (...args: string[]) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  return { status, stdout, stderr };
};

describe.each(['bench', 'images', 'stack'])('npm run %s', (name) => {
  const script = `scripts/${name}.mjs`;

  test('prints what it takes, and does nothing', () => {
    const { status, stdout, stderr } = run(script, '--help');
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toMatch(`usage: npm run ${name} `);
    expect(stdout).not.toContain('==>');
  });

  test('refuses an unknown option with what it takes, and does nothing', () => {
    const { status, stdout, stderr } = run(script, '--onyl');
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toMatch(/^error: Unknown option '--onyl'\nusage: npm run /);
    expect(stderr).not.toContain('    at ');
  });
});

test('the benchmark refuses a part that it does not have before it builds anything', () => {
  const { status, stdout, stderr } = run('scripts/bench.mjs', '--only', 'clam');
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  expect(stderr).toMatch(/^error: --only clam: expected one of claim, turns, /);
});

describe('in a fresh clone, which has no packages and the Node of its machine', () => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> };
  const started = Object.entries(scripts).flatMap(([name, line]) => {
    const script = /node (scripts\/\S+)/.exec(line)?.[1];
    return script === undefined ? [] : [[name, script] as const];
  });
  const directories = (process.env['PATH'] ?? '').split(delimiter).filter((one) => !one.includes('node_modules'));
  const ownNode = directories.map((one) => join(one, 'node')).find((path) => existsSync(path)) ?? process.execPath;

  test.each(started)('npm run %s begins with installing them', (_, script) => {
    const clone = mkdtempSync(join(tmpdir(), 'suzumio-clone-'));
    try {
      for (const name of ['scripts', 'package.json', 'package-lock.json']) {
        cpSync(name, join(clone, name), { recursive: true });
      }
      mkdirSync(join(clone, 'bin'));
      writeFileSync(join(clone, 'bin/npm'), '#!/bin/sh\necho npm "$@"\nexit 1\n', { mode: 0o755 });
      const env = { ...process.env, PATH: [join(clone, 'bin'), ...directories].join(delimiter) };
      const { stdout, stderr } = spawnSync(ownNode, [script], { cwd: clone, env, encoding: 'utf8' });
      expect({ stdout: stdout.slice(0, 2_000), stderr }).toMatchObject({
        stdout: expect.stringMatching(/==> Install the locked packages\nnpm ci /),
      });
    } finally {
      rmSync(clone, { recursive: true });
    }
  });
});
