import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { join } from 'node:path';
import { promisify } from 'node:util';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** The example of a runner that is not ours. */
export const foreignRunner = join(root, 'test/fixtures/foreign-runner/runner.mjs');

/** Bundles the runner and the shim from their sources, as they go into images, and returns their paths. */
export async function bundle(into: string): Promise<{ runner: string; shim: string }> {
  await promisify(execFile)(
    join(root, 'node_modules/.bin/esbuild'),
    [
      'runner=runner/src/main.ts',
      'shim=runner/src/shim-main.ts',
      '--bundle',
      '--platform=node',
      '--format=esm',
      '--conditions=suzumio-source',
      '--out-extension:.js=.mjs',
      `--outdir=${into}`,
      '--log-level=warning',
    ],
    { cwd: root },
  );
  return { runner: join(into, 'runner.mjs'), shim: join(into, 'shim.mjs') };
}
