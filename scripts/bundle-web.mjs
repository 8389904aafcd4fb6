// Builds the page and the site of the docs into web/dist: static files, which the API serves. What is the same stays as it is, since suites build
// while others serve the page.
import { createHash } from 'node:crypto';
import { cp, glob, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { docsSources, writeDocs } from './lib/docs-site.mjs';
import { main } from './lib/steps.mjs';

const target = 'web/dist';
const mark = 'web/.built';
const sources = [
  'web/{index.html,vite.config.ts,package.json}',
  'web/src/**',
  'web/public/**',
  'sdk/dist/*.js',
  'scripts/{bundle-web,lib/docs-site}.mjs',
  ...docsSources,
];

await main(async () => {
  const made = await hashOfSources();
  const before = await readFile(mark, 'utf8').catch(() => '');
  if (before === made && (await readFile(join(target, 'index.html')).catch(() => undefined))) return;
  const { build } = await import('vite');
  const next = await mkdtemp('web/.next-');
  try {
    await build({ root: 'web', logLevel: 'error', build: { outDir: `../${next}`, emptyOutDir: true } });
    const template = join(next, 'docs.html');
    const html = await readFile(template, 'utf8');
    await rm(template);
    await writeDocs(next, html);
    // Files of the last build stay beside the new ones until the page is replaced, and pages come after what they load.
    await cp(join(next, 'assets'), join(target, 'assets'), { recursive: true });
    await cp(next, target, { recursive: true, filter: (path) => path !== join(next, 'index.html') });
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
    (await Array.fromAsync(glob('{assets,docs}/**', { cwd: root, withFileTypes: true })))
      .filter((entry) => entry.isFile())
      .map((entry) => relative(root, join(entry.parentPath, entry.name)));
  const current = new Set(await listed(next));
  for (const name of await listed(target)) if (!current.has(name)) await rm(join(target, name), { force: true });
}
