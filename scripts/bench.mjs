// npm run bench: from a fresh clone to the figures.
import process from 'node:process';
import { mistakeIn, neededFor, options, usage } from './lib/bench-options.mjs';
import { browser } from './lib/browser.mjs';
import { build } from './lib/checks.mjs';
import { bringImagesUpToDate } from './lib/images.mjs';
import { onProjectNode } from './lib/project-node.mjs';
import { readOptions } from './lib/options.mjs';
import { provideRequirements } from './lib/requirements.mjs';
import { main, run, step } from './lib/steps.mjs';

await main(async () => {
  const { values } = readOptions(usage, { options }, mistakeIn);
  await onProjectNode();
  const needed = neededFor(values);
  const missing = await step('Requirements', () => provideRequirements(needed));
  if (missing.length > 0) throw new Error(`the benchmark needs ${missing.join(' and ')}`);
  await step('Build', build);
  if (needed.includes('docker')) await step('Images', () => bringImagesUpToDate({ source: 'auto', tests: false }));
  const measured = { ...values, ...(needed.includes('chromium') && { browser: await browser() }) };
  await run(process.execPath, ['--import', './bench/hooks.mjs', 'bench/main.ts', JSON.stringify(measured)]);
});
