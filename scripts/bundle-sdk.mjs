// Bundles the SDK into one file that imports nothing: what it shares with the rest is inside. `tsc` makes its types.
import { build } from 'esbuild';
import { main } from './lib/steps.mjs';

await main(() =>
  build({
    entryPoints: { index: 'sdk/src/index.ts' },
    outdir: 'sdk/dist',
    bundle: true,
    platform: 'neutral',
    target: 'es2023',
    format: 'esm',
    conditions: ['suzumio-source'],
    logLevel: 'warning',
  }),
);
