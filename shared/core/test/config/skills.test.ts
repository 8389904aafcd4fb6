import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { loadProjectText } from '@suzumio/core/profiles/load-project';
import { load, minimal, problemsIn, problemsOf, withFiles } from './project-files.js';

const project = (skills: string, rest = '') =>
  minimal(`    skills: ${skills}\nbackend: { runner: { mode: mock } }\n${rest}`);
const skillsOf = (skills: string, files: Record<string, string | Uint8Array> = {}) =>
  load({ 'project.yaml': project(skills), ...files }).config.agents['editor']?.skills;
const codes = (skills: string, files: Record<string, string | Uint8Array> = {}, configRoot?: string) =>
  problemsOf({ 'project.yaml': project(skills), ...files }, configRoot === undefined ? {} : { configRoot }).map(
    ({ code, line, column }) => `${code} ${String(line)}:${String(column)}`,
  );

describe('a skill', () => {
  test('is a file beside the project file: its name and its text, in which nothing is looked for', () => {
    const text = 'Cite ${two}.\n@import(other.md)\n{{team}}\n';
    expect(
      skillsOf('[how/cite.md, { name: style, text: @import(style.md) }]', {
        'how/cite.md': text,
        'style.md': 'Short.',
      }),
    ).toEqual([
      { name: 'cite.md', text },
      { name: 'style', text: 'Short.' },
    ]);
  });

  test.each([
    ['[none.md]', 'file-missing 7:14'],
    ['[how]', 'file-unreadable 7:14'],
    ['[bytes.md]', 'file-not-utf8 7:14'],
    ['[large.md]', 'file-too-large 7:14'],
    ['[a b.md]', 'value-invalid 7:14'],
    ['[empty.md]', 'value-invalid 1:1'],
    ['[key.md]', 'secret-in-file 1:5'],
    ['[how/a.md, a.md]', 'value-invalid 7:13'],
    ['[{ name: "[end", text: t }]', 'value-invalid 7:22'],
    ['a.md', 'value-invalid 7:13'],
  ])('is refused as %s: %s', (skills, problem) => {
    const files = {
      'how/a.md': 'A.',
      'a.md': 'A.',
      'bytes.md': new Uint8Array([0xc3, 0x28]),
      'large.md': 'x'.repeat(64 * 1024 + 1),
      'a b.md': 'A.',
      'empty.md': ' \n',
      'key.md': `Use sk-proj-${'a1B2'.repeat(12)}.`,
    };
    expect(codes(skills, files)).toEqual([problem]);
  });

  test('stays below the directory that imports are kept to, links followed', () => {
    expect(codes('[../outside.md]', { 'sub/x': '', '../outside.md': 'A.' }, 'sub')).toEqual([
      'import-outside-root 7:14',
    ]);
  });

  test('comes with few others: neither many nor large together', () => {
    const files = Object.fromEntries(Array.from({ length: 33 }, (_, index) => [`${String(index)}.md`, 'A.']));
    expect(codes(`[${Object.keys(files).join(', ')}]`, files)).toEqual(['value-invalid 7:13']);
    const large = Object.fromEntries(['a', 'b', 'c', 'd', 'e'].map((name) => [name, 'x'.repeat(60 * 1024)]));
    expect(codes('[a, b, c, d, e]', large)).toEqual(['value-invalid 7:13']);
  });

  test('of a posted file is not read from this machine, relative or absolute', () => {
    withFiles({}, (directory) => {
      mkdirSync(join(directory, 'x'));
      writeFileSync(join(directory, 'x/secret.md'), 'planted');
      for (const path of ['secret.md', join(directory, 'x/secret.md'), '/etc/passwd']) {
        for (const text of [project(`["${path}"]`), `rendered: 1\n${project(`["${path}"]`)}`]) {
          const found = problemsIn(() => loadProjectText(text, 'file'));
          expect(found.map(({ code }) => code)).toContain('path-refused');
          expect(JSON.stringify(found)).not.toContain('planted');
        }
      }
    });
    const posted = loadProjectText(project('[{ name: a, text: Here. }]'), 'file');
    expect(posted.config.agents['editor']?.skills).toEqual([{ name: 'a', text: 'Here.' }]);
  });
});
