// Compiles each source of our packages to a file of its own in `dist`, without a look at its types: what suites, their
// programs and tools import by itself. What is bundled is bundled from the sources.
import { glob } from 'node:fs/promises';
import process from 'node:process';
import { build } from 'esbuild';
import { replaceFile } from './lib/bundle.mjs';
import { onProjectNode } from './lib/project-node.mjs';
import { main } from './lib/steps.mjs';

await main(async () => {
  await onProjectNode();
  const sources = await Array.fromAsync(glob('{shared/*,services/*,runner,cli}/src/**/*.ts'));
  const { outputFiles } = await build({
    entryPoints: sources.map((source) => ({
      in: source,
      out: source.replace('/src/', '/dist/').slice(0, -'.ts'.length),
    })),
    absWorkingDir: process.cwd(),
    outdir: '.',
    platform: 'node',
    format: 'esm',
    target: 'node24',
    logLevel: 'warning',
    write: false,
  });
  for (const file of outputFiles) await replaceFile(file);
});
