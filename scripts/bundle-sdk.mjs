// Bundles the SDK into two files that import nothing from elsewhere: what it shares with the rest is inside. Its types
// are made by scripts/sdk-types.mjs.
import { build } from 'esbuild';
import { main } from './lib/steps.mjs';

/** Puts how operations are asked for into the bundle as plain data: without the schemas, and without zod. */
const callsAsData = {
  name: 'calls-as-data',
  setup(bundle) {
    bundle.onLoad({ filter: /sdk\/src\/calls\.ts$/ }, async ({ path }) => {
      const { outputFiles } = await build({ ...common, entryPoints: [path], platform: 'node', write: false });
      const { calls } = await import(
        `data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString('base64')}`
      );
      return { contents: `export const calls = ${JSON.stringify(calls)};`, loader: 'js' };
    });
  },
};

const common = { bundle: true, format: 'esm', conditions: ['suzumio-source'], logLevel: 'warning' };

await main(async () => {
  await build({
    ...common,
    entryPoints: { index: 'sdk/src/index.ts', client: 'sdk/src/client.ts' },
    outdir: 'sdk/dist',
    splitting: true,
    chunkNames: 'shared',
    platform: 'neutral',
    mainFields: ['module', 'main'],
    target: 'es2023',
    plugins: [callsAsData],
  });
});
