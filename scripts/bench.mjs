// npm run bench: from a fresh clone to the figures. Arguments go to bench/main.ts.
import process from 'node:process';
import { build } from './lib/checks.mjs';
import { bringImagesUpToDate } from './lib/images.mjs';
import { onProjectNode } from './lib/project-node.mjs';
import { readOptions } from './lib/options.mjs';
import { provideRequirements } from './lib/requirements.mjs';
import { main, run, step } from './lib/steps.mjs';

await main(async () => {
  await onProjectNode();
  const { mistakeIn, options, usage } = await import('../bench/options.ts');
  readOptions(usage, { options }, mistakeIn);
  const missing = (await step('Requirements', provideRequirements)).filter((name) =>
    ['redis', 'docker'].includes(name),
  );
  if (missing.length > 0) throw new Error(`the benchmark needs ${missing.join(' and ')}`);
  await step('Build', build);
  await step('Images', () => bringImagesUpToDate({ source: 'auto', tests: false }));
  await run(process.execPath, ['--import', './bench/hooks.mjs', 'bench/main.ts', ...process.argv.slice(2)]);
});
