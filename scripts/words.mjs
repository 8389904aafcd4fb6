// node scripts/words.mjs [--lower]: compares the private words of each package with words.json; lowers its numbers.
import { readFileSync, writeFileSync } from 'node:fs';
import process from 'node:process';
import { changedLines } from './lib/changed-lines.mjs';
import { privateWordsIn } from './lib/private-names.mjs';
import { main } from './lib/steps.mjs';
import { sources } from './lib/sources.mjs';
import { lowered, wordProblems } from './lib/word-counts.mjs';

const file = 'scripts/words.json';

await main(() => {
  const files = sources().filter(({ package: name }) => name !== 'tests');
  const found = files.flatMap(({ path, package: name }) =>
    privateWordsIn(path, readFileSync(path, 'utf8')).map((word) => ({ ...word, path, package: name })),
  );
  let allowed = JSON.parse(readFileSync(file, 'utf8'));
  if (process.argv.includes('--lower')) {
    allowed = lowered(found, allowed);
    writeFileSync(file, `${JSON.stringify(allowed, null, 2)}\n`);
  }
  const problems = wordProblems(found, allowed, { file, changedLines });
  if (problems.length > 0) throw new Error(problems.join('\n'));
});
