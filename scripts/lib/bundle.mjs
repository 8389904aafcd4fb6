import { existsSync } from 'node:fs';
import { chmod, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { capture } from './steps.mjs';

/** What Node gives an ES module only with all of its exports read; two of these load the whole of `fetch` and of WebCrypto. */
const readWhole = /^node:(http|crypto)$/;

/** Binds programs to what they use of such modules, as CommonJS does: that is a tenth of a second of each start. */
export const builtinsAsUsed = {
  name: 'builtins-as-used',
  setup(bundle) {
    bundle.onResolve({ filter: readWhole }, ({ kind, path }) =>
      kind === 'import-statement' ? { path, namespace: 'builtins-as-used' } : undefined,
    );
    bundle.onLoad({ filter: readWhole, namespace: 'builtins-as-used' }, ({ path }) => ({
      contents: `module.exports = require('${path}');`,
    }));
  },
};

/** How programs are bundled, from the sources of our own packages: a bundle does not depend on what was compiled before. */
export const programs = {
  bundle: true,
  platform: 'node',
  format: 'esm',
  conditions: ['suzumio-source'],
  // better-sqlite3 has a native part. The others are compiled to be faster, and their users do without.
  external: ['better-sqlite3', 'msgpackr-extract', 'cpu-features', '*.node'],
  plugins: [builtinsAsUsed],
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

/** The entries of threads and of processes: each is a file of its own, where the code that starts it reads for it from `dist`. */
export const threads = {
  controller: { 'toolpacks/controller-child': 'services/toolhost/src/toolpacks/controller-child.ts' },
  body: { 'bodies/body-thread': 'services/toolhost/src/bodies/body-thread.ts' },
  pack: { 'pack-thread': 'services/control-plane/src/packs/pack-thread.ts' },
  migration: { 'migration-thread': 'shared/store/src/projects/migration-thread.ts' },
  search: { 'search-thread': 'shared/store/src/content/search-thread.ts' },
  snapshot: { 'snapshot-thread': 'shared/store/src/workspaces/snapshot-thread.ts' },
  wipe: { 'wipe-thread': 'shared/store/src/redaction/wipe-thread.ts' },
  workspace: { 'workspace/workspace-thread': 'services/turn-worker/src/workspace/workspace-thread.ts' },
};

/** What bundled code reads of its own package, one directory above it: its version, and the commit of the tree, if it has one. */
export async function packageOf(source) {
  const { version } = JSON.parse(await readFile(source, 'utf8'));
  const { code, stdout } = await capture('git', ['rev-parse', '--short=12', 'HEAD']);
  return JSON.stringify({ type: 'module', version, ...(code === 0 && { commit: stdout.trim() }) });
}

/**
 * Makes a directory hold some files and no others. A file that is the same is not touched, and another is replaced at
 * once: suites build while others run what is there.
 *
 * @param files paths, contents and modes, in this order: what imports others comes last
 */
export async function fillDirectory(directory, files) {
  for (const file of files) await replaceFile(file);
  const kept = new Set(files.map(({ path }) => resolve(path)));
  for (const file of await readdir(directory, { recursive: true, withFileTypes: true })) {
    const path = resolve(file.parentPath, file.name);
    // Another build may be about to rename its own.
    if (!file.isDirectory() && !file.name.endsWith('.next') && !kept.has(path)) await rm(path, { force: true });
  }
}

/** Readable by all, whatever the umask: services run as a user who owns none of it. */
export async function replaceFile({ path, contents, mode = 0o644 }) {
  const before = await readFile(path).catch(() => undefined);
  if (before?.equals(Buffer.from(contents)) && ((await stat(path)).mode & 0o777) === mode) return;
  await makeDirectory(dirname(path));
  const next = `${path}.${process.pid}.next`;
  await writeFile(next, contents);
  await chmod(next, mode);
  await rename(next, path);
}

async function makeDirectory(path) {
  const first = await mkdir(path, { recursive: true });
  for (let made = first && path; made?.startsWith(first); made = dirname(made)) await chmod(made, 0o755);
}

/** Fails where bundled code starts a thread or a process without a file beside it, which would otherwise fail at run time only. */
export async function requireThreads(directory) {
  for (const name of await readdir(directory)) {
    if (!name.endsWith('.js')) continue;
    const text = await readFile(join(directory, name), 'utf8');
    // Paths of two steps up are of code that runs from its source.
    for (const [, path] of text.matchAll(/"((?:\.|\.\.\/dist)\/[^"]*-(?:thread|child)\.js)"/g)) {
      const file = join(directory, path);
      if (!existsSync(file)) throw new Error(`${directory}/${name} starts ${file}, which is not there`);
    }
  }
}
