// npm run fuzz: many new hostile cases. FUZZ_CASES and FUZZ_SEED say how many and which.
import { randomInt } from 'node:crypto';
import process from 'node:process';
import { build } from './lib/checks.mjs';
import { onProjectNode } from './lib/project-node.mjs';
import { createReport } from './lib/report.mjs';
import { runSuites } from './lib/suites.mjs';

await onProjectNode();
process.env.FUZZ_CASES ??= '200000';
process.env.FUZZ_SEED ??= String(randomInt(2 ** 31));
const { FUZZ_CASES, FUZZ_SEED } = process.env;
const report = createReport();
await report.attempt('Build', build);
console.log(`\nFUZZ_CASES=${FUZZ_CASES} FUZZ_SEED=${FUZZ_SEED}`);
const paths = process.argv.length > 2 ? process.argv.slice(2) : ['test/fuzz'];
await report.suites('Hostile cases', () => runSuites({ args: ['--runInBand', ...paths] }));
report.finish();
