import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

interface Suite {
  path: string;
  failed: boolean;
  failures: { test: string; message: string }[];
  unusable: boolean;
}
interface Results {
  passed: number;
  failed: number;
  suites: Suite[];
  output: string;
  broken?: string;
}
interface Lane {
  results: Results;
  again: (path: string) => Promise<Results>;
}
type SecondLook = (
  lanes: Lane[],
  options: { flaky: () => Promise<object[]>; today: () => Promise<string> },
) => Promise<string[]>;

const root = fileURLToPath(new URL('..', import.meta.url));
const { runSuites } = (await import(new URL('../scripts/lib/suites.mjs', import.meta.url).href)) as {
  runSuites: (options: { args: string[]; quiet: boolean }) => Promise<Results>;
};
const { secondLook } = (await import(new URL('../scripts/lib/second-look.mjs', import.meta.url).href)) as {
  secondLook: SecondLook;
};

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'second-look-'));
  process.env['RACE_MARK'] = join(directory, 'mark');
});
afterEach(() => rm(directory, { recursive: true, force: true }));

/** Runs one of `fixtures/failing-suites` as `npm test` runs suites. */
function runFixture(name: string): Promise<Results> {
  const config = {
    rootDir: root,
    testEnvironment: '<rootDir>/test/support/suite-environment.mjs',
    testMatch: [`<rootDir>/test/fixtures/failing-suites/${name}.mjs`],
    transform: {},
  };
  return runSuites({ args: [name, '--maxWorkers=1', '--config', JSON.stringify(config)], quiet: true });
}

async function lane(name: string): Promise<Lane> {
  return { results: await runFixture(name), again: () => runFixture(name) };
}

const look = (lanes: Lane[], flaky: object[] = []) =>
  secondLook(lanes, { flaky: () => Promise.resolve(flaky), today: () => Promise.resolve('2026-11-25') });

describe('a run', () => {
  test('fails a suite that leaves a handle open, and names who opened it', async () => {
    const { failed, output, suites } = await runFixture('leaks');
    expect({ failed, unusable: suites[0]?.unusable }).toEqual({ failed: 1, unusable: true });
    expect(output).toMatch(/The suite left open:\s+a server opened by .*leaks\.mjs:5/);
  });

  test('fails a suite of which a test has a bound of its own', async () => {
    const { failed, output } = await runFixture('bounded');
    expect(failed).toBe(1);
    expect(output).toContain('A test has a bound of its own: that it hangs is said by testTimeout');
  });

  test('names the open handles of a test that hangs', async () => {
    const { failed, output } = await runFixture('hangs');
    expect(failed).toBeGreaterThan(0);
    expect(output).toMatch(/Open at that moment:\s+a server opened by .*hangs\.mjs:7/);
    expect(output).toMatch(/a connection to port \d+ opened by .*hangs\.mjs:8/);
  });

  test('names the suite that ended Jest', async () => {
    const { failed, broken } = await runFixture('exits');
    expect(failed).toBe(1);
    expect(broken).toMatch(
      /Jest ended with exit code \d+ and without results, in test\/fixtures\/failing-suites\/exits\.mjs/,
    );
  });
});

describe('a second look', () => {
  test('at a suite that failed by chance counts it as passed, and tells it', async () => {
    const raced = await lane('races');
    expect(raced.results).toMatchObject({ passed: 1, failed: 1 });
    const [line] = await look([raced]);
    expect(line).toMatch(/^FLAKY test\/fixtures\/failing-suites\/races\.mjs: fails the first time: Error: expect/);
    expect(raced.results).toMatchObject({ passed: 2, failed: 0 });
  });

  test('is not given to a leak, nor where Jest failed', async () => {
    const leaking = await lane('leaks');
    expect(await look([leaking])).toEqual([
      'No second look at test/fixtures/failing-suites/leaks.mjs: it could not be run, or left handles open.',
    ]);
    expect(leaking.results.failed).toBe(1);
    const exited = { ...leaking, results: { ...leaking.results, broken: 'Jest was ended by SIGKILL' } };
    expect(await look([exited])).toEqual(['No second look: Jest itself failed.']);
  });
});

/** A lane with these suites, of which one test each failed; alone they pass `passes` times, then fail. */
function failing(paths: string[], passes = 3): Lane {
  const failures = [{ test: 'it holds', message: 'Error: not so\n  at' }];
  const suites = paths.map((path) => ({ path, failed: true, failures, unusable: false }));
  const results = { passed: 5, failed: paths.length, suites, output: '' };
  let left = passes;
  return {
    results,
    again: () => Promise.resolve({ ...results, suites: [], output: 'not so, again', failed: left-- > 0 ? 0 : 1 }),
  };
}

test.each([
  ['passes three times', failing(['a.test.ts']), /^FLAKY a\.test\.ts: it holds: Error: not so\./, 0],
  ['passes twice only', failing(['a.test.ts'], 2), /^FAILED again, alone: a\.test\.ts\nnot so, again$/, 1],
  ['searches for faults', failing(['test/fuzz/a.test.ts']), /: it searches for faults/, 1],
  ['is among four', failing(['a', 'b', 'c', 'd']), /^No second look: 4 suites failed, more than 3\.$/, 4],
])('a suite that %s', async (_which, one, line, failed) => {
  expect((await look([one]))[0]).toMatch(line);
  expect(one.results.failed).toBe(failed);
});

test.each([
  ['2026-11-11', 0],
  ['2026-11-10', 1],
])('an entry of %s leaves %i failures', async (date, failed) => {
  const one = failing(['a.test.ts']);
  await look([one], [{ suite: 'a.test.ts', test: 'it holds', date, reason: 'a late answer' }]);
  expect(one.results.failed).toBe(failed);
});

test('Ctrl-C ends a run and all that it started, names what ran, and exits with 130', async () => {
  const script = `
    import { interruption } from './scripts/lib/interruption.mjs';
    import { createReport } from './scripts/lib/report.mjs';
    import { runSuites } from './scripts/lib/suites.mjs';
    const signal = interruption();
    const report = createReport({ signal });
    const config = { rootDir: '.', testMatch: ['<rootDir>/test/fixtures/failing-suites/loops.mjs'], transform: {} };
    const args = ['--maxWorkers=1', '--config', JSON.stringify(config)];
    await report.suites('Loops', () => runSuites({ args, quiet: false, signal }));
    report.finish();`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { cwd: root, env: { ...process.env } });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output += text;
    if (output.includes('It loops.')) child.kill('SIGINT');
  });
  const code = await new Promise((resolve) => child.once('close', resolve));
  expect(code).toBe(130);
  expect(output).toContain('interrupted, in test/fixtures/failing-suites/loops.mjs');
});
