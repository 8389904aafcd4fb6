// Bundles each service into a directory of its own below .cache/services: the context from which deploy/Dockerfile makes
// their images, and the programs that the tests of whole stacks start. Part of `npm run build`.
import { readdir, readFile, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { build } from 'esbuild';
import { fillDirectory, packageOf, programs, requireThreads, threads } from './lib/bundle.mjs';
import { main } from './lib/steps.mjs';

const context = '.cache/services';
const services = ['api', 'scheduler', 'toolhost', 'turn-worker'];
const stores = { ...threads.migration, ...threads.search, ...threads.snapshot, ...threads.wipe };
const threadsOf = {
  api: { ...stores, ...threads.pack },
  scheduler: stores,
  toolhost: { ...stores, ...threads.body, ...threads.controller, ...threads.pack },
  'turn-worker': threads.workspace,
};

const entryPoints = Object.fromEntries(
  services.flatMap((name) => [
    [`${name}/dist/main`, `services/${name}/src/main.ts`],
    ...Object.entries(threadsOf[name]).map(([entry, source]) => [`${name}/dist/${entry}`, source]),
  ]),
);

/** What a service has beside its program: of better-sqlite3 no sources, no headers, no binaries of other systems. */
const sqlite = 'node_modules/better-sqlite3';
const copies = [
  { from: 'deploy/healthcheck.sh', to: 'common/healthcheck.sh' },
  { from: 'web/dist', to: 'api/web' },
  { from: 'runner/dist/bundle', to: 'turn-worker/runner' },
  { from: 'runner/dist/shim.mjs', to: 'turn-worker/runner/shim.mjs' },
  ...['package.json', 'LICENSE', 'lib'].map((part) => ({
    from: `${sqlite}/${part}`,
    to: `sqlite/better-sqlite3/${part}`,
  })),
  { from: `${sqlite}/prebuilds`, to: 'sqlite/better-sqlite3/prebuilds', only: /^linux/ },
];

await main(async () => {
  const { outputFiles } = await build({ ...programs, entryPoints, outdir: context, target: 'node24', write: false });
  const packages = services.map(async (name) => ({
    path: `${context}/${name}/package.json`,
    contents: await packageOf(`services/${name}/package.json`),
  }));
  const copied = (await Promise.all(copies.map(filesOf))).flat();
  await fillDirectory(context, [...copied, ...(await Promise.all(packages)), ...outputFiles]);
  for (const name of services) await requireThreads(`${context}/${name}/dist`);
});

async function filesOf({ from, to, only = /./ }) {
  if ((await stat(from)).isFile()) return [await fileAt(from, to)];
  const found = await readdir(from, { recursive: true, withFileTypes: true });
  const files = found.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const within = files.map((file) => relative(from, file)).filter((file) => only.test(file));
  return Promise.all(within.map((file) => fileAt(join(from, file), join(to, file))));
}

async function fileAt(from, to) {
  const executable = ((await stat(from)).mode & 0o100) !== 0;
  return { path: join(context, to), contents: await readFile(from), mode: executable ? 0o755 : 0o644 };
}
