import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';

const repository = join(import.meta.dirname, '..');

test('CONTRIBUTING.md shows which package imports which, as it is now', () => {
  const diagram = execFileSync(process.execPath, ['scripts/floors.mjs', '--print'], {
    cwd: repository,
    encoding: 'utf8',
  });
  expect(readFileSync(join(repository, 'CONTRIBUTING.md'), 'utf8')).toContain(diagram.trim());
  // Every arrow leads down: no floor reaches itself, or the script fails.
  const arrows = [...diagram.matchAll(/^ {2}(\w+) --> (\w+)$/gm)].map(([, from, to]) => [from, to]);
  expect(arrows).toContainEqual(['runner', 'protocol']);
  expect(arrows.filter(([from]) => from === 'protocol')).toEqual([]);
  expect(arrows.filter(([, to]) => to === 'cli' || to === 'sdk')).toEqual([]);
  // What runs in a container shares with the command how patches are applied, and with no service.
  expect(arrows.filter(([, to]) => to === 'runner')).toEqual([['cli', 'runner']]);
});
