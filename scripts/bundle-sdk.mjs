// Bundles the SDK into two files that import nothing from elsewhere: what it shares with the rest is inside. `tsc` makes
// its types, but for those of the client.
import { writeFile } from 'node:fs/promises';
import { build } from 'esbuild';
import { clientTypes } from './lib/client-types.mjs';
import { main } from './lib/steps.mjs';

/** Puts how operations are asked for into the bundle as plain data: without the schemas, and without zod. */
const callsAsData = {
  name: 'calls-as-data',
  setup(bundle) {
    bundle.onLoad({ filter: /sdk\/src\/calls\.ts$/ }, async () => {
      const { allOperations } = await import('@suzumio/contract/operations/operations');
      const { callOf } = await import('@suzumio/contract/client/calls');
      const calls = Object.fromEntries(allOperations.map((operation) => [operation.id, callOf(operation)]));
      return { contents: `export const calls = ${JSON.stringify(calls)};`, loader: 'js' };
    });
  },
};

await main(async () => {
  await build({
    entryPoints: { index: 'sdk/src/index.ts', client: 'sdk/src/client.ts' },
    outdir: 'sdk/dist',
    bundle: true,
    splitting: true,
    chunkNames: 'shared',
    platform: 'neutral',
    mainFields: ['module', 'main'],
    target: 'es2023',
    format: 'esm',
    conditions: ['suzumio-source'],
    plugins: [callsAsData],
    logLevel: 'warning',
  });
  await writeFile('sdk/dist/api.d.ts', await clientTypes());
});
