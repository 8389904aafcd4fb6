// npm test: from a fresh clone to the result of every static check and of the essential suites, and of those that reach what
// changed since the branch began. npm run test:all: every suite. npm test -- --changed REV: those alone that reach what
// differs from REV. Other arguments go to Jest.
import process from 'node:process';
import { interruption } from './lib/interruption.mjs';
import { onProjectNode } from './lib/project-node.mjs';
import { createReport } from './lib/report.mjs';

let signal;
let report = createReport();
try {
  await onProjectNode();
  signal = interruption();
  report = createReport({ signal });
  // It imports packages, which a fresh clone has from here on.
  const { testLevel } = await import('./lib/test-level.mjs');
  await testLevel(report, { argv: process.argv.slice(2), signal });
} catch (error) {
  report.failed('Preparation', error);
}
report.finish();
