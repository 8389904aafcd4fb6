// Bundles each service into a directory of its own below .cache/services: the context from which deploy/Dockerfile makes
// their images. Run after `npm run build`; `npm run images` and `npm run stack` do both.
import { existsSync } from 'node:fs';
import { chmod, cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';
import { main } from './lib/steps.mjs';

const context = '.cache/services';
const services = ['api', 'scheduler', 'toolhost', 'turn-worker'];
/** Those that open projects. */
const stores = ['api', 'scheduler', 'toolhost'];
/** Those that rewrite a database after a redaction. */
const redacting = ['api', 'scheduler'];
/** A thread has a file of its own, where the code that starts it looks for it from `dist/main.js`. */
const threads = {
  'toolhost/dist/bodies/body-thread': 'services/toolhost/src/bodies/body-thread.ts',
  'turn-worker/dist/workspace/workspace-thread': 'services/turn-worker/src/workspace/workspace-thread.ts',
  ...Object.fromEntries(
    stores.map((name) => [`${name}/dist/migration-thread`, 'shared/store/src/projects/migration-thread.ts']),
  ),
  ...Object.fromEntries(
    redacting.map((name) => [`${name}/dist/wipe-thread`, 'shared/store/src/redaction/wipe-thread.ts']),
  ),
};

await main(async () => {
  await rm(context, { recursive: true, force: true });
  await build({
    entryPoints: {
      ...Object.fromEntries(services.map((name) => [`${name}/dist/main`, `services/${name}/src/main.ts`])),
      ...threads,
    },
    outdir: context,
    bundle: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    // From the sources of our own packages: the bundle does not depend on what was compiled before.
    conditions: ['suzumio-source'],
    // better-sqlite3 is copied. The others are compiled to be faster, and their users do without.
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
  });
  for (const name of services) await describe(name);
  for (const name of services) await requireThreads(`${context}/${name}/dist`);
  await copySqlite();
  await cp('deploy/healthcheck.mjs', `${context}/common/healthcheck.mjs`);
  await cp('runner/dist/bundle', `${context}/turn-worker/runner`, { recursive: true });
  await cp('runner/dist/shim.mjs', `${context}/turn-worker/runner/shim.mjs`);
  await readableByAll(context);
});

/** Fails where a service starts a thread without a file beside it, which would otherwise fail at run time only. */
async function requireThreads(directory) {
  const text = await readFile(`${directory}/main.js`, 'utf8');
  // Paths of two steps up are of code that runs from its source.
  for (const [, path] of text.matchAll(/"((?:\.|\.\.\/dist)\/[^"]*-thread\.js)"/g)) {
    const file = join(directory, path);
    if (!existsSync(file)) throw new Error(`${directory}/main.js starts a thread of ${file}, which is not there`);
  }
}

/** What a service reads of its own package. */
async function describe(name) {
  const { version } = JSON.parse(await readFile(`services/${name}/package.json`, 'utf8'));
  await writeFile(`${context}/${name}/package.json`, JSON.stringify({ type: 'module', version }));
}

/** The files of better-sqlite3 that an image needs: no sources, no headers, no binaries of other systems. */
async function copySqlite() {
  const source = 'node_modules/better-sqlite3';
  const target = `${context}/sqlite/better-sqlite3`;
  await mkdir(`${target}/prebuilds`, { recursive: true });
  for (const part of ['package.json', 'LICENSE', 'lib'])
    await cp(`${source}/${part}`, `${target}/${part}`, { recursive: true });
  for (const binary of await readdir(`${source}/prebuilds`)) {
    if (binary.startsWith('linux')) await cp(`${source}/prebuilds/${binary}`, `${target}/prebuilds/${binary}`);
  }
}

/** Set explicitly, since the umask may differ: the services run as a user who owns none of these files. */
async function readableByAll(directory) {
  await chmod(directory, 0o755);
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name);
    await (entry.isDirectory() ? readableByAll(path) : chmod(path, 0o644));
  }
}
