// Bundles each service into a directory of its own below .cache/services: the context from which deploy/Dockerfile makes
// their images. Run after `npm run build`; `npm run images` and `npm run stack` do both.
import { chmod, cp, mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';
import { programs, requireThreads, threads, writePackage } from './lib/bundle.mjs';
import { main } from './lib/steps.mjs';

const context = '.cache/services';
const services = ['api', 'scheduler', 'toolhost', 'turn-worker'];
const stores = { ...threads.migration, ...threads.search, ...threads.snapshot, ...threads.wipe };
const threadsOf = {
  api: stores,
  scheduler: stores,
  toolhost: { ...stores, ...threads.body, ...threads.pack },
  'turn-worker': threads.workspace,
};

const entryPoints = Object.fromEntries(
  services.flatMap((name) => [
    [`${name}/dist/main`, `services/${name}/src/main.ts`],
    ...Object.entries(threadsOf[name]).map(([entry, source]) => [`${name}/dist/${entry}`, source]),
  ]),
);

await main(async () => {
  await rm(context, { recursive: true, force: true });
  await build({ ...programs, entryPoints, outdir: context, target: 'node24' });
  for (const name of services) await writePackage(`${context}/${name}`, `services/${name}/package.json`);
  for (const name of services) await requireThreads(`${context}/${name}/dist`);
  await copySqlite();
  await cp('deploy/healthcheck.sh', `${context}/common/healthcheck.sh`);
  await cp('web/dist', `${context}/api/web`, { recursive: true });
  await cp('runner/dist/bundle', `${context}/turn-worker/runner`, { recursive: true });
  await cp('runner/dist/shim.mjs', `${context}/turn-worker/runner/shim.mjs`);
  await readableByAll(context);
});

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
