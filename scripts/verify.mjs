// npm run verify: as npm test, for a tree whose requirements and images are there.
import process from 'node:process';
import { interruption } from './lib/interruption.mjs';
import { onProjectNode } from './lib/project-node.mjs';
import { createReport } from './lib/report.mjs';

await onProjectNode();
// They import packages, which a fresh clone has from here on.
const { chosenSuites } = await import('./lib/selection.mjs');
const { verify } = await import('./lib/verify.mjs');
const signal = interruption();
const report = createReport({ signal });
await verify(report, { ...(await chosenSuites(process.argv.slice(2))), signal });
report.finish();
