import { expect, test } from '@jest/globals';

interface Lines {
  code: number;
  total: number;
}
const script = (name: string) => import(new URL(`../scripts/lib/${name}.mjs`, import.meta.url).href);
const { countLines, lineProblems, linesOfPackages } = (await script('line-counts')) as {
  countLines: (path: string, text: string) => Lines;
  lineProblems: (lines: Map<string, Lines>, ceilings: Record<string, number>, file: string) => string[];
  linesOfPackages: (files: { path: string; package: string; text: string }[]) => Map<string, Lines>;
};

test.each([
  ['a.ts', '/** Why.\n * More. */\n\nconst a = 1; // one\n// no\n/* two\n */ b();\n', { code: 2, total: 7 }],
  // What only looks like a comment, or is empty within a text, is code, or blank.
  ['a.ts', "const a = `/* x\n\n// y */`;\nconst b = '//';\nconst c = /\\/*x/;", { code: 4, total: 5 }],
  ['a.tsx', '<p>\n  // text\n  {/* not */}\n</p>\n', { code: 4, total: 4 }],
  ['a.css', '/* Why. */\n.a {\n  color: red; /* x */\n}\n', { code: 3, total: 4 }],
  ['a.sh', '#!/bin/sh\n# Why.\n\necho a # b\n', { code: 2, total: 4 }],
  ['deploy/Dockerfile', '# Why.\nFROM a#b\n', { code: 1, total: 2 }],
  ['a.html', '<!-- a\n b -->\n<p>&lt;!--</p>\n', { code: 1, total: 3 }],
  ['a.ts', '', { code: 0, total: 0 }],
])('%s: %j', (path, text, lines) => {
  expect(countLines(path, text)).toEqual(lines);
});

const files = [
  { path: 'cli/src/a.ts', package: 'cli', text: 'a();\nb();\n// c\n' },
  { path: 'cli/src/b.ts', package: 'cli', text: 'c();\n' },
  { path: 'chaos/a.py', package: 'chaos', text: 'x = 1\n' },
];

test('a package above its ceiling fails, and so does one that has none, or is no more', () => {
  const lines = linesOfPackages(files);
  expect(lineProblems(lines, { cli: 3, chaos: 4 }, 'lines.json')).toEqual([]);
  expect(lineProblems(lines, { cli: 2, gone: 1 }, 'lines.json')).toEqual([
    'cli has 3 lines of source (4 with comments and blank lines), 1 above its ceiling in lines.json.',
    '  Remove what is not needed; a ceiling rises only in a commit that says why.',
    'chaos has 1 lines of source and no ceiling: enter it in lines.json, in a commit that says why.',
    'gone has no source: remove it from lines.json.',
  ]);
});

test('lines and words are among the static checks', async () => {
  const { staticChecks } = (await script('checks')) as { staticChecks: Record<string, { command: string[] }> };
  const commands = Object.values(staticChecks).map(({ command }) => command.join(' '));
  expect(commands).toEqual(expect.arrayContaining(['node scripts/words.mjs', 'node scripts/lines.mjs']));
});
