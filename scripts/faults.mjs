// npm run faults [-- NAME...]: plants the flaws of test/faults in copies of the tree, one at a time, and sees that the suites find
// them. With --check it sees that each still applies.
import process from 'node:process';
import { build } from './lib/checks.mjs';
import { interruption } from './lib/interruption.mjs';
import { onProjectNode } from './lib/project-node.mjs';
import { main, step } from './lib/steps.mjs';

await main(async () => {
  await onProjectNode();
  const { checkFaults, plantFaults } = await import('./lib/faults.mjs');
  if (process.argv.includes('--check')) return checkFaults();
  const signal = interruption();
  await step('Build', build);
  await step('Planted flaws', () => plantFaults(process.argv.slice(2), { signal }));
});
