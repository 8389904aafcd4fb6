// Builds the page into web/dist: static files, which the API serves. What is the same stays as it is, since suites build
// while others serve the page.
import { createHash } from 'node:crypto';
import { cp, glob, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { main } from './lib/steps.mjs';

const target = 'web/dist';
const mark = 'web/.built';
const sources = ['web/{index.html,vite.config.ts,package.json}', 'web/src/**', 'web/public/**', 'sdk/dist/*.js'];

await main(async () => {
  const made = await hashOfSources();
  const before = await readFile(mark, 'utf8').catch(() => '');
  if (before === made && (await readFile(join(target, 'index.html')).catch(() => undefined))) return;
  const { build } = await import('vite');
  const next = await mkdtemp('web/.next-');
  try {
    await build({ root: 'web', logLevel: 'error', build: { outDir: `../${next}`, emptyOutDir: true } });
    // Files of the last build stay beside the new ones until the page is replaced.
    await cp(next, target, { recursive: true, filter: (path) => !path.endsWith('index.html') });
    await rename(join(next, 'index.html'), join(target, 'index.html'));
    await removeOthers(next);
    await writeFile(mark, made);
  } finally {
    await rm(next, { recursive: true, force: true });
  }
});

async function hashOfSources() {
  const hash = createHash('sha256');
  const files = (await Array.fromAsync(glob(sources, { withFileTypes: true })))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  for (const file of files) hash.update(`${file}\0`).update(await readFile(file));
  return hash.digest('hex');
}

async function removeOthers(next) {
  const listed = async (root) =>
    (await Array.fromAsync(glob('assets/*', { cwd: root }))).filter((name) => name !== '.');
  const kept = new Set(await listed(next));
  for (const name of await listed(target)) if (!kept.has(name)) await rm(join(target, name), { force: true });
}
