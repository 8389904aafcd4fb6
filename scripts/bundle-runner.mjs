// Bundles what runs inside containers into single files: the runner, and the shim for foreign runners.
import { chmod } from 'node:fs/promises';
import { build } from 'esbuild';
import { main } from './lib/steps.mjs';

await main(async () => {
  await build({
    entryPoints: { runner: 'runner/src/main.ts', shim: 'runner/src/shim-main.ts' },
    outdir: 'runner/dist',
    outExtension: { '.js': '.mjs' },
    bundle: true,
    platform: 'node',
    target: 'node22',
    format: 'esm',
    // From the sources of our own packages: the bundle does not depend on what was compiled before.
    conditions: ['suzumio-source'],
    logLevel: 'warning',
  });
  // Read by another user inside a container, whatever the umask here.
  for (const file of ['runner/dist/runner.mjs', 'runner/dist/shim.mjs']) await chmod(file, 0o644);
});
