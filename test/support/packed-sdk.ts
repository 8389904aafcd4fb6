import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { finished } from './compose.js';

// Starts: sdk.

const quiet = ['--offline', '--no-audit', '--no-fund', '--loglevel', 'error'];

/** Packs the SDK and installs the tarball into an empty directory, as whoever uses it would. */
export async function installSdk(directory: string): Promise<void> {
  await npm('pack', '--workspace', '@suzumio/sdk', '--pack-destination', directory, ...quiet);
  const [tarball] = (await readdir(directory)).filter((file) => file.endsWith('.tgz'));
  if (tarball === undefined) throw new Error('npm pack made no tarball');
  await writeFile(join(directory, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
  await npm('install', '--prefix', directory, join(directory, tarball), ...quiet);
}

async function npm(...args: string[]): Promise<void> {
  const { code, err } = await finished('npm', args);
  if (code !== 0) throw new Error(`npm ${args.join(' ')} failed: ${err}`);
}
