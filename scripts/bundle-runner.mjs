// Bundles what runs inside containers: the runner, and the shim for foreign runners, which is mounted and so one file.
import { chmod, readdir, rm } from 'node:fs/promises';
import { build } from 'esbuild';
import { main } from './lib/steps.mjs';

const runnerDir = 'runner/dist/bundle';
const common = {
  outExtension: { '.js': '.mjs' },
  bundle: true,
  platform: 'node',
  target: 'node22',
  format: 'esm',
  // From the sources of our own packages: the bundle does not depend on what was compiled before.
  conditions: ['suzumio-source'],
  logLevel: 'warning',
};

await main(async () => {
  await build({ ...common, entryPoints: { shim: 'runner/src/shim-main.ts' }, outdir: 'runner/dist' });
  await rm(runnerDir, { recursive: true, force: true });
  // In parts: the client of models is most of it, and a turn that plays a script never loads it.
  await build({ ...common, entryPoints: { runner: 'runner/src/main.ts' }, outdir: runnerDir, splitting: true });
  const parts = (await readdir(runnerDir)).map((file) => `${runnerDir}/${file}`);
  // Read by another user inside a container, under any umask here.
  await chmod(runnerDir, 0o755);
  for (const file of ['runner/dist/shim.mjs', ...parts]) await chmod(file, 0o644);
});
