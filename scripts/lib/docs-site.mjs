import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { programs } from './bundle.mjs';

/** What the site of the docs is made from, besides the page's own sources. */
export const docsSources = [
  '{README,CONTRIBUTING,CHANGELOG}.md',
  'docs/**',
  'examples/*/README.md',
  'sdk/README.md',
  'web/site/**',
  'web/docs.html',
  'shared/contract/src/{operations,errors,model}/**',
  'shared/core/src/config/**',
];

/** Writes the site of the docs below a directory: its pages load what the template loads. */
export async function writeDocs(directory, template) {
  const bundle = resolve(`.cache/docs-site.${process.pid}.mjs`);
  await mkdir(dirname(bundle), { recursive: true });
  try {
    await build({
      ...programs,
      entryPoints: ['web/site/site.ts'],
      outfile: bundle,
      target: 'node24',
      define: { 'process.env.NODE_ENV': '"production"' },
    });
    const { makeSite } = await import(pathToFileURL(bundle).href);
    for (const [path, content] of makeSite('.', template)) {
      await mkdir(dirname(join(directory, path)), { recursive: true });
      await writeFile(join(directory, path), content);
    }
  } finally {
    await rm(bundle, { force: true });
  }
}
