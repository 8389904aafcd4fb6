// Bundles the command into a few files, with what each command needs apart from the rest: it starts in less than half of
// the time that its 700 modules take one by one.
import { mkdir, rm } from 'node:fs/promises';
import { build } from 'esbuild';
import { programs, requireThreads, threads, writePackage } from './lib/bundle.mjs';
import { main } from './lib/steps.mjs';

const bundle = 'cli/bundle';

await main(async () => {
  await rm(bundle, { recursive: true, force: true });
  await mkdir(bundle, { recursive: true });
  await build({
    ...programs,
    entryPoints: { main: 'cli/src/main.ts', ...Object.assign({}, ...Object.values(threads)) },
    outdir: `${bundle}/dist`,
    splitting: true,
    target: 'node22',
  });
  await writePackage(bundle, 'cli/package.json');
  await requireThreads(`${bundle}/dist`);
});
