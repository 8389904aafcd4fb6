// node scripts/lines.mjs [--print]: compares the lines of each package with its ceiling in lines.json; prints them.
import { readFileSync } from 'node:fs';
import process from 'node:process';
import { lineProblems, lineTable, linesOfPackages } from './lib/line-counts.mjs';
import { main } from './lib/steps.mjs';
import { sources } from './lib/sources.mjs';

const file = 'scripts/lines.json';

await main(() => {
  const lines = linesOfPackages(sources().map((source) => ({ ...source, text: readFileSync(source.path, 'utf8') })));
  const ceilings = JSON.parse(readFileSync(file, 'utf8'));
  if (process.argv.includes('--print')) console.log(lineTable(lines, ceilings));
  const problems = lineProblems(lines, ceilings, file);
  if (problems.length > 0) throw new Error(problems.join('\n'));
});
