import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';

interface JestConfig {
  projects: { displayName: string }[];
}

const root = fileURLToPath(new URL('..', import.meta.url));
const configFile = new URL('../jest.config.js', import.meta.url).href;
const { default: jestConfig } = (await import(configFile)) as { default: JestConfig };

/** Runs suites of `fixtures/misnamed-suites` as Jest runs those of one kind, and returns which of them passed. */
async function passing(kind: string): Promise<string[]> {
  const ofKind = jestConfig.projects.find(({ displayName }) => displayName === kind);
  const config = {
    ...ofKind,
    rootDir: root,
    testMatch: ['<rootDir>/test/fixtures/misnamed-suites/*.mjs'],
  };
  const node = ['--experimental-vm-modules', 'node_modules/jest/bin/jest.js'];
  const output = await new Promise<string>((resolve) => {
    const args = [...node, '--json', '--runInBand', '--config', JSON.stringify(config)];
    execFile(process.execPath, args, { cwd: root }, (_failed, stdout) => resolve(stdout));
  });
  const { testResults } = JSON.parse(output) as { testResults: { name: string; status: string; message: string }[] };
  expect(testResults).toHaveLength(3);
  const failed = testResults.filter(({ status }) => status !== 'passed');
  for (const { message } of failed) expect(message).toContain('rename it to *.');
  return testResults.filter(({ status }) => status === 'passed').map(({ name }) => name.split('/').at(-1) ?? '');
}

test.each([
  ['unit', []],
  ['slow', []],
  ['process', ['command.mjs', 'process.mjs']],
  ['container', ['command.mjs', 'container.mjs', 'process.mjs']],
])('a suite of the kind "%s" starts nothing that its name does not say', async (kind, expected) => {
  expect((await passing(kind)).sort()).toEqual(expected);
});
