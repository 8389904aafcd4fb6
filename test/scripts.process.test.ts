import { spawnSync } from 'node:child_process';
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
