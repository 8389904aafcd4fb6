import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';

interface ImportList {
  files: string[];
  of: (file: string) => Set<string>;
  above: (roots: string[]) => Set<string>;
}

const { Imports } = (await import(new URL('../scripts/lib/imports.mjs', import.meta.url).href)) as {
  Imports: new () => ImportList;
};
const imports = new Imports();
const isTest = (file: string) => /(^|\/)test\//.test(file);

describe('the suites that reach a file', () => {
  test.each([
    ['a rule', 'shared/core/src/mail/schedule.ts', 'services/scheduler/test/bullmq.process.test.ts'],
    ['a service, started as it was built', 'services/turn-worker/src/main.ts', 'test/load.process.test.ts'],
    ['the runner', 'runner/src/main.ts', 'services/turn-worker/test/runs-turns.container.test.ts'],
    ['the command', 'cli/src/main.ts', 'test/demo.container.test.ts'],
    ['the page', 'web/src/main.tsx', 'web/test/page.browser.test.ts'],
    ['the stack', 'docker-compose.yml', 'test/stack.container.test.ts'],
    ['an example', 'examples/newsroom/newsroom.yaml', 'test/stack.container.test.ts'],
    ['a page of the docs', 'docs/handlers.md', 'test/external-handlers.container.test.ts'],
    ['a script', 'scripts/lib/second-look.mjs', 'test/second-look.process.test.ts'],
    ['a fixture', 'test/fixtures/failing-suites/leaks.mjs', 'test/second-look.process.test.ts'],
  ])('have those of %s', (_what, file, suite) => {
    expect(imports.files).toEqual(expect.arrayContaining([file, suite]));
    expect([...imports.above([file])]).toContain(suite);
  });

  test('are not all', () => {
    const suites = [...imports.above(['cli/src/main.ts'])].filter((file) => file.endsWith('.test.ts'));
    expect(suites).not.toContain('shared/core/test/prompt/select-mail.test.ts');
  });
});

test('what starts a program of ours names it, by its path or after "Starts:"', () => {
  const starts = /bin', 'suzumio\.js'|'np[mx]'|\/dist\/|\.cache\/services|@suzumio\/[^']*'.*\$\{|--input-type=module/;
  const silent = imports.files
    .filter((file) => isTest(file) && /\.ts$/.test(file) && starts.test(readFileSync(file, 'utf8')))
    .filter((file) => [...imports.of(file)].every((used) => isTest(used)));
  expect(silent).toEqual([]);
});
