import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { catalogMigrations } from '@suzumio/store/cell/migrations';
import { projectMigrations } from '@suzumio/store/projects/migrations';

const maxLines = 150;
const maxLineLength = 240;

const text = readFileSync(new URL('../CHANGELOG.md', import.meta.url), 'utf8');
const lines = text.trimEnd().split('\n');

test('CHANGELOG.md can be read through: what users can do, a line each', () => {
  expect(lines.length).toBeLessThanOrEqual(maxLines);
  expect(lines.filter((line) => line.length > maxLineLength)).toEqual([]);
});

test('CHANGELOG.md says which schemas an upgrade leads to', () => {
  const newest = (migrations: readonly { version: number }[]) => Math.max(...migrations.map(({ version }) => version));
  expect(text).toContain(
    `(projects to schema ${newest(projectMigrations)}, the catalog to ${newest(catalogMigrations)})`,
  );
});
