import { existsSync, globSync } from 'node:fs';
import { basename } from 'node:path';
import { describe, expect, test } from '@jest/globals';

interface Row {
  name: string;
  from: string;
  suite: string;
}

const script = (name: string) => new URL(`../scripts/lib/${name}.mjs`, import.meta.url).href;
const { readPromises } = (await import(script('promises'))) as { readPromises: () => Row[] };
const { essential } = (await import(script('levels'))) as { essential: Record<string, string> };
const { kindOf } = (await import(script('suite-files'))) as { kindOf: (path: string) => string };

const rows = readPromises();

describe('the table of promises', () => {
  test('has a name for each, and suites and pages that are there', () => {
    expect(rows.length).toBeGreaterThan(20);
    expect(new Set(rows.map(({ name }) => name)).size).toBe(rows.length);
    for (const { suite, from } of rows) expect([suite, from].filter((path) => !existsSync(path))).toEqual([]);
  });

  test('names the essential suites that start something or are long, and no others', () => {
    const listed = rows.filter(({ suite }) => kindOf(suite) !== 'unit').map(({ suite, name }) => [suite, name]);
    expect(Object.fromEntries(listed)).toEqual(essential);
    expect(listed).toHaveLength(Object.keys(essential).length);
  });

  test('has a flaw for each that breaks it', () => {
    const planted = globSync('test/faults/*').map((file) => basename(file, '.patch'));
    const names = rows.map(({ name }) => name);
    expect(planted.sort()).toEqual(names.sort());
  });
});
