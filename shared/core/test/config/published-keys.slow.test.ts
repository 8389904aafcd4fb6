import { join } from 'node:path';
import { writeFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { stringify } from 'yaml';
import { ConfigErrors } from '@suzumio/core/config/config-problem';
import { publishedKeys } from '@suzumio/core/config/published-keys';
import { renderConfig } from '@suzumio/core/config/render-config';
import { loadProjectText } from '@suzumio/core/profiles/load-project';
import { importPublishedFile, loadProjectFile } from '@suzumio/runtime/disk/load-project-file';
import fc, { caseCount } from '../../../../test/support/fast-check.js';
import { withFiles } from './project-files.js';

/** Values that keys of the published format have, and that none has. */
const value = fc.oneof(
  fc.constantFrom<unknown>(
    ...['docker-chat', 'nonpreemptive-signals', 'openai', 'anthropic', 'web', 'artifacts', 'web.fetch', 'file.read'],
    ...['pm', 'main', 'gateway', 'P2', '2g', 'host', 'none', 'http://host.docker.internal:39400', 'My Name'],
    ...['${HTTP_PROXY}', '${env:A_KEY}', '${A:-b}', '$${A}', '@import(task.md)', '', 'true'],
    ...[true, false, null, 0, 1, 2, -1, 20, 260_000, 1.5],
    ...[[], {}, ['core', 'web', { path: 'own' }], ['main'], ['Ada', 'Bo'], [{ enabled: false }], { enabled: true }],
  ),
  fc.jsonValue({ maxDepth: 2 }),
);

const subset = fc.uniqueArray(fc.tuple(fc.constantFrom(...new Set(publishedKeys.map(({ path }) => path))), value), {
  maxLength: 12,
  selector: ([path]) => path,
});

/** A project with some keys beside what it needs; a key below a value that is none stays out. */
function written(keys: readonly (readonly [string, unknown])[]): Record<string, unknown> {
  const file: Record<string, unknown> = {
    name: 'demo',
    task: 'Do it.',
    backend: {
      runner: {
        mode: 'mock',
        models: {
          providers: { gateway: { type: 'openai', baseURL: 'http://m' } },
          presets: { main: { provider: 'gateway', model: 'm' } },
        },
      },
    },
    agents: { pm: { tools: ['messages.send'] } },
  };
  const names: Readonly<Record<string, string>> = { agents: 'pm', providers: 'gateway', presets: 'main', main: 'topK' };
  for (const [path, one] of keys) {
    let at: unknown = file;
    let before = '';
    const segments = path
      .replaceAll('[]', '.[]')
      .split('.')
      .filter((segment) => segment !== '');
    for (const [index, segment] of segments.entries()) {
      const name: string = segment === '*' ? (names[before] ?? 'x') : segment === 'x-*' ? 'x-own' : segment;
      const isLast = index === segments.length - 1;
      if (Array.isArray(at)) {
        if (isLast) at.push(one);
        break;
      }
      if (typeof at !== 'object' || at === null) break;
      const map = at as Record<string, unknown>;
      if (isLast) map[name] = one;
      else map[name] ??= segments[index + 1] === '[]' ? [] : {};
      at = map[name];
      before = name;
    }
  }
  return file;
}

function judge(text: string, load: () => void): void {
  try {
    load();
  } catch (error) {
    if (!(error instanceof ConfigErrors)) throw error;
    const lines = text.split('\n');
    expect(error.problems.length).toBeGreaterThan(0);
    for (const { line, column } of error.problems) {
      expect(line).toBeLessThanOrEqual(lines.length);
      expect(column).toBeLessThanOrEqual((lines[line - 1]?.length ?? 0) + 1);
      expect(Math.min(line, column)).toBeGreaterThanOrEqual(1);
    }
  }
}

test('any keys of the published format load, or are refused in their places', () => {
  let loaded = 0;
  withFiles({ 'task.md': 'Do it.' }, (directory) => {
    const path = join(directory, 'project.yaml');
    fc.assert(
      fc.property(subset, (keys) => {
        const text = stringify(written(keys));
        judge(text, () => {
          const { config, notes } = loadProjectText(text, 'file');
          for (const note of notes) expect(note.line).toBeLessThanOrEqual(text.split('\n').length);
          expect(loadProjectText(renderConfig(config), 'rendered').config).toEqual(config);
        });
        writeFileSync(path, text);
        judge(text, () => {
          const { config } = loadProjectFile(path, { env: { A_KEY: 'a' } });
          // What loads is written as one of this format, and means the same.
          writeFileSync(path, importPublishedFile(path, {}).text);
          const imported = loadProjectFile(path, { env: { A_KEY: 'a' } });
          expect(imported.notes).toEqual([]);
          expect(imported.config).toEqual(config);
          loaded += 1;
        });
      }),
      { numRuns: caseCount(400) },
    );
  });
  expect(loaded).toBeGreaterThan(0);
});
