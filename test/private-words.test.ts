import { expect, test } from '@jest/globals';

interface Word {
  line: number;
  name?: string;
  word: string;
  write: string;
}
interface Found extends Word {
  package: string;
  path: string;
}
type Numbers = Record<string, { names: number; comments: number }>;

const script = (name: string) => import(new URL(`../scripts/lib/${name}.mjs`, import.meta.url).href);
const { privateWordsIn } = (await script('private-names')) as {
  privateWordsIn: (path: string, text: string) => Word[];
};
const { packageOf } = (await script('sources')) as { packageOf: (path: string) => string };
const { lowered, wordProblems } = (await script('word-counts')) as {
  lowered: (found: Found[], allowed: Numbers) => Numbers;
  wordProblems: (
    found: Found[],
    allowed: Numbers,
    options: { file: string; changedLines: () => (path: string, line: number) => boolean },
  ) => string[];
};

const namesIn = (text: string, path = 'cli/src/x.ts') =>
  privateWordsIn(path, text).flatMap(({ name }) => (name === undefined ? [] : [name]));
const commentsIn = (text: string, path = 'cli/src/x.ts') =>
  privateWordsIn(path, text)
    .filter(({ name }) => name === undefined)
    .map(({ word, line }) => `${line}: ${word}`);

test.each([
  ['const told = 1;', ['told']],
  ['let maxToldPushes;', ['maxToldPushes']],
  ['const MOST_TOLD = 2;', ['MOST_TOLD']],
  ['function tellSlow() {}', ['tellSlow']],
  ['class Mind<Held> { #kept = 1; readonly gone?: string; says() {} }', ['Mind', 'gone', 'Held', '#kept', 'says']],
  ['interface Look { lookMs: number; (place: string): void }', ['Look', 'lookMs', 'place']],
  ['type Said = { [place: string]: [given: string] };', ['Said', 'place', 'given']],
  ['enum Places { Here }', ['Places']],
  ['const { a: nobody, b: [whoever], ...kept } = x;', ['nobody', 'whoever', 'kept']],
  ['run((dealt, { x: agreed }) => 1);', ['dealt', 'agreed']],
  ['const x = { told: 1, place() {} };', ['told', 'place']],
  ["import { a as said } from 'x'; export { said as look };", ['said', 'look']],
  ["import * as places from 'x';", ['places']],
  ['const mostBytes = 1, maxBytes = 2, almost = 3, most = 4;', ['mostBytes']],
  ['const takeBack = 1, takeDiffBack = 2;', ['takeBack']],
])('%s has private names', (text, names) => {
  expect(namesIn(text)).toEqual(names);
});

test('each declaration counts, and a use of a name does not', () => {
  expect(namesIn('function a() { const told = 1; return told + told; }\nfunction b(told: string) {}')).toHaveLength(2);
  expect(
    namesIn("import { told, type Place } from 'x';\nfunction f(at: Place) { return told(at.place?.look); }"),
  ).toEqual([]);
  expect(namesIn("export { told } from 'x';\nconst a = b ? c.told : d;")).toEqual([]);
  expect(namesIn('const a = <Row told={1}>told</Row>;', 'web/src/x.tsx')).toEqual([]);
});

test.each([
  "const a = 'told';",
  'const a = `told ${b} place`;',
  'const a = /told/;',
  "const a = { 'told': 1 };",
  'const replaced = placeholder(lookup, retold, manifold);',
  // Terms of the field that have such a word.
  'const inPlace = lookUp(editInPlace);',
])('%s has none', (text) => {
  expect(namesIn(text)).toEqual([]);
});

test('a member of a published format is excepted, and anything else of its name is not', () => {
  expect(
    namesIn('const row = { place_json: 1, counted: true, heldUsd: 3 }; interface Row { counted?: boolean }'),
  ).toEqual([]);
  expect(namesIn('function counted() {}\nconst taken = 1;')).toEqual(['counted', 'taken']);
  expect(namesIn('const x = { countedBytes: 1 };')).toEqual(['countedBytes']);
});

test('a file has its own name', () => {
  expect(namesIn('', 'cli/src/upstream-looks.ts')).toEqual(['upstream-looks']);
  expect(namesIn('', 'deploy/told.sh')).toEqual(['told']);
});

test('comments of every language are read, and nothing else of them', () => {
  expect(commentsIn('// Nobody is told.\nconst a = "nobody"; /* What\n * of it. */')).toEqual([
    '1: nobody',
    '1: told',
    '2: what of',
  ]);
  expect(commentsIn('/** Calls `told()`, {@link Place} and replaces in place. */')).toEqual([]);
  expect(commentsIn('const a = <p>nobody {/* somebody */}</p>;', 'web/src/x.tsx')).toEqual(['1: somebody']);
  expect(commentsIn('.a { color: red } /* nobody */', 'web/src/x.css')).toEqual(['1: nobody']);
  expect(commentsIn('<p>nobody</p>\n<!-- told -->', 'web/x.html')).toEqual(['2: told']);
  expect(commentsIn('#!/bin/nobody\necho nobody\n  # nobody', 'deploy/x.sh')).toEqual(['3: nobody']);
});

test('every path has a package, and tests are one', () => {
  expect(['shared/store/src/a.ts', 'web/site/a.ts', 'docker-compose.yml', 'chaos/x.py'].map(packageOf)).toEqual([
    'shared/store',
    'web',
    'root',
    'chaos',
  ]);
  expect(['cli/test/support/a.ts', 'cli/src/a.test.ts', 'test/fixtures/x/Dockerfile'].map(packageOf)).toEqual(
    Array(3).fill('tests'),
  );
});

const file = 'words.json';
const problems = (found: Found[], allowed: Numbers, isNew: (path: string, line: number) => boolean = () => false) =>
  wordProblems(found, allowed, { file, changedLines: () => isNew });
const wordsAt = (path: string, lines: number[]): Found[] =>
  lines.map((line) => ({ package: 'cli', path, line, name: 'told', word: 'told', write: 'reported' }));

test('above its number a package fails, with new words first, then those of the worst file', () => {
  const found = [...wordsAt('cli/a.ts', [7]), ...wordsAt('cli/b.ts', [1, 2, 3, 4, 5, 6])];
  const text = problems(found, { cli: { names: 6, comments: 0 } }, (path, line) => path === 'cli/a.ts' && line === 7);
  expect(text).toEqual([
    'cli has 7 private words in its names, and words.json allows 6:',
    '  cli/a.ts:7 told: write reported instead of "told"',
    ...[1, 2, 3, 4].map((line) => `  cli/b.ts:${line} told: write reported instead of "told"`),
    'The list is scripts/lib/private-words.mjs.',
  ]);
  // A package that is new may have none.
  expect(problems(found, {})[0]).toBe('cli has 7 private words in its names, and words.json allows 0:');
});

test('below its number a package fails until the number is lowered, which raises none', () => {
  const allowed = { cli: { names: 3, comments: 0 }, sdk: { names: 1, comments: 0 } };
  const found = wordsAt('cli/a.ts', [1, 2]);
  expect(problems(found, allowed)).toEqual([
    'cli has 2 private words in its names, and words.json allows 3. Lower it in the same commit: node scripts/words.mjs --lower',
    'sdk has 0 private words in its names, and words.json allows 1. Lower it in the same commit: node scripts/words.mjs --lower',
  ]);
  expect(lowered(found, allowed)).toEqual({ cli: { names: 2, comments: 0 } });
  expect(problems(found, lowered(found, allowed))).toEqual([]);
  expect(lowered(wordsAt('cli/a.ts', [1, 2, 3, 4]), allowed)).toEqual({ cli: { names: 3, comments: 0 } });
});
