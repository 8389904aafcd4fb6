import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll } from '@jest/globals';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** The example of a runner that is not ours. */
export const foreignRunner = join(root, 'test/fixtures/foreign-runner/runner.mjs');

/** The runner and the shim, bundled from their sources for the tests of a suite. */
export function bundled(): { runner: string; shim: string } {
  const files = { runner: '', shim: '' };
  let directory: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'suzumio-bundle-'));
    Object.assign(files, await bundle(directory));
  });
  afterAll(() => rm(directory, { recursive: true, force: true }));
  return files;
}

async function bundle(into: string): Promise<{ runner: string; shim: string }> {
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
