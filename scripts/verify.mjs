// npm run verify: every check of a tree whose requirements and images are there. Arguments go to Jest.
import process from 'node:process';
import { interruption } from './lib/interruption.mjs';
import { onProjectNode } from './lib/project-node.mjs';
import { createReport } from './lib/report.mjs';
import { verify } from './lib/verify.mjs';

await onProjectNode();
const signal = interruption();
const report = createReport({ signal });
await verify(report, { args: process.argv.slice(2), signal });
report.finish();
