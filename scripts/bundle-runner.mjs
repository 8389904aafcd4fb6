// Bundles what runs inside containers: the runner, and the shim for foreign runners, which is mounted and so one file.
import { chmod, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { build } from 'esbuild';
import { builtinsAsUsed, programs as bundled } from './lib/bundle.mjs';
import { main } from './lib/steps.mjs';

const shimDir = 'runner/dist';
const runnerDir = 'runner/dist/bundle';
/** What Git starts, in a container: the bundle's `git-remote` by its names. */
const programs = ['bin/git-remote-suzumio', 'bin/hooks/pre-receive'];
const common = {
  outExtension: { '.js': '.mjs' },
  bundle: true,
  platform: 'node',
  target: 'node22',
  format: 'esm',
  // From the sources of our own packages: the bundle does not depend on what was compiled before.
  conditions: ['suzumio-source'],
  banner: bundled.banner,
  plugins: [builtinsAsUsed],
  logLevel: 'warning',
  write: false,
};

await main(async () => {
  const shim = await build({ ...common, entryPoints: { shim: 'runner/src/shim-main.ts' }, outdir: shimDir });
  // In parts: the client of models is most of it, and a turn that plays a script never loads it.
  const entryPoints = {
    runner: 'runner/src/main.ts',
    'git-remote': 'runner/src/git-remote-main.ts',
    toolpack: 'runner/src/toolpack-main.ts',
  };
  const runner = await build({ ...common, entryPoints, outdir: runnerDir, splitting: true });
  await mkdir(runnerDir, { recursive: true });
  // Readable by another user inside a container, under any umask.
  await chmod(runnerDir, 0o755);
  for (const file of [...shim.outputFiles, ...runner.outputFiles]) await keep(file, 0o644);
  for (const name of programs) {
    await keep({ path: join(runnerDir, name), contents: await readFile(join('runner', name)) }, 0o755);
  }
  const parts = ['bin', ...runner.outputFiles.map(({ path }) => basename(path))];
  for (const name of await readdir(runnerDir)) if (!parts.includes(name)) await rm(join(runnerDir, name));
});

/** Leaves an unchanged file alone: turns may be running from it. */
async function keep({ path, contents }, mode) {
  await mkdir(dirname(path), { recursive: true, mode: 0o755 });
  const existing = await readFile(path).catch(() => undefined);
  if (!existing?.equals(contents)) await writeFile(path, contents);
  await chmod(path, mode);
}
