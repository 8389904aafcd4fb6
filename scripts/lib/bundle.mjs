import { existsSync } from 'node:fs';
import { readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** How programs are bundled, from the sources of our own packages: a bundle does not depend on what was compiled before. */
export const programs = {
  bundle: true,
  platform: 'node',
  format: 'esm',
  conditions: ['suzumio-source'],
  // better-sqlite3 has a native part. The others are compiled to be faster, and their users do without.
  external: ['better-sqlite3', 'msgpackr-extract', 'cpu-features', '*.node'],
  // CommonJS packages expect these.
  banner: {
    js: [
      `import { createRequire as requireFrom } from 'node:module';`,
      'const require = requireFrom(import.meta.url);',
      'const __filename = import.meta.filename;',
      'const __dirname = import.meta.dirname;',
    ].join('\n'),
  },
  logLevel: 'error',
};

/** The entries of threads: each is a file of its own, where the code that starts it looks for it from `dist`. */
export const threads = {
  body: { 'bodies/body-thread': 'services/toolhost/src/bodies/body-thread.ts' },
  pack: { 'git/pack-thread': 'services/toolhost/src/git/pack-thread.ts' },
  migration: { 'migration-thread': 'shared/store/src/projects/migration-thread.ts' },
  search: { 'search-thread': 'shared/store/src/content/search-thread.ts' },
  snapshot: { 'snapshot-thread': 'shared/store/src/workspaces/snapshot-thread.ts' },
  wipe: { 'wipe-thread': 'shared/store/src/redaction/wipe-thread.ts' },
  workspace: { 'workspace/workspace-thread': 'services/turn-worker/src/workspace/workspace-thread.ts' },
};

/** What bundled code reads of its own package, one directory above it. */
export async function writePackage(directory, source) {
  const { version } = JSON.parse(await readFile(source, 'utf8'));
  const next = `${directory}/package.json.${process.pid}.next`;
  await writeFile(next, JSON.stringify({ type: 'module', version }));
  await rename(next, `${directory}/package.json`);
}

/** Fails where bundled code starts a thread without a file beside it, which would otherwise fail at run time only. */
export async function requireThreads(directory) {
  for (const name of await readdir(directory)) {
    if (!name.endsWith('.js')) continue;
    const text = await readFile(join(directory, name), 'utf8');
    // Paths of two steps up are of code that runs from its source.
    for (const [, path] of text.matchAll(/"((?:\.|\.\.\/dist)\/[^"]*-thread\.js)"/g)) {
      const file = join(directory, path);
      if (!existsSync(file)) throw new Error(`${directory}/${name} starts a thread of ${file}, which is not there`);
    }
  }
}
