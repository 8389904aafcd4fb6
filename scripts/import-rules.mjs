// Says which imports break a rule of the house, and ends with 1 where one does. `npm run check` and `npm test` call it.
import process from 'node:process';
import { dirname } from 'node:path';
import { Imports } from './lib/imports.mjs';

/**
 * The floors of the house: what each package of `shared` may import. Services stand on the store and the runtime, the
 * command on the services; the runner, which runs in containers, sees the protocol alone.
 */
const floors = {
  protocol: [],
  contract: ['protocol'],
  core: ['protocol', 'contract'],
  store: ['protocol', 'contract', 'core'],
  runtime: ['protocol', 'contract', 'core'],
};
const ours = /^(shared|services|runner|cli|sdk|web)\//;
const floorOf = (path) => /^shared\/([^/]+)\//.exec(path)?.[1];
const sqlite = /^better-sqlite3(\/|$)/;

/**
 * What no file that `from` matches may import. `forbids` has the file of ours that an import leads to, or the name of a
 * package, beside what the groups of `from` matched and the name that it is imported by.
 */
const rules = [
  ...Object.entries(floors).map(([floor, below]) => ({
    name: `floor-${floor}`,
    from: new RegExp(`^shared/${floor}/src/`),
    forbids: (to) => ours.test(to) && ![floor, ...below].includes(floorOf(to)),
  })),
  {
    // What every subject of the store uses, rows and the journal, needs none of them.
    name: 'store-root-on-sqlite',
    from: /^shared\/store\/src\/[^/]+$/,
    forbids: (to) => /^shared\/store\/src\/(?!sqlite\/)[^/]+\//.test(to),
  },
  {
    // A path that leads out of a package would hide what that package depends on.
    name: 'packages-by-their-names',
    from: /^((?:shared|services)\/[^/]+|runner|cli|sdk)\/src\//,
    forbids: (to, [own], name) => name.startsWith('.') && ours.test(to) && !to.startsWith(`${own}/`),
  },
  {
    // But for what the services of a control plane share.
    name: 'services-do-not-import-each-other',
    from: /^services\/([^/]+)\/src\//,
    forbids: (to, [own]) => to.startsWith('services/') && ![own, 'control-plane'].includes(to.split('/')[1]),
  },
  { name: 'services-below-cli', from: /^services\//, forbids: (to) => /^(runner|cli|web|sdk)\//.test(to) },
  {
    name: 'runner-sees-the-protocol-alone',
    from: /^runner\/src\//,
    forbids: (to) => ours.test(to) && !/^(runner|shared\/protocol)\//.test(to),
  },
  {
    // It is installed without the rest of this repository, and needs nothing else: contract and protocol are bundled
    // into it.
    name: 'sdk-stands-alone',
    from: /^sdk\/src\//,
    forbids: (to) => !/^(sdk|shared\/(contract|protocol))\/src\//.test(to),
  },
  {
    name: 'worker-has-no-store',
    from: /^services\/turn-worker\/src\//,
    forbids: (to) => /^(shared\/store|services\/control-plane)\//.test(to) || sqlite.test(to),
  },
  {
    // What rules need of the disk is handed to them.
    name: 'core-reads-no-disk',
    from: /^shared\/(protocol|contract|core)\/src\//,
    forbids: (to) => /^(node:)?(fs|fs\/promises|child_process|net|http|https)$/.test(to),
  },
  {
    name: 'sql-lives-in-the-store',
    from: /^(?!shared\/store\/src\/|bench\/|(.*\/)?test\/)/,
    forbids: (to) => sqlite.test(to),
  },
];

const imports = new Imports();
/** What each file imports: files of ours, and packages by their names. What was built stands for nothing. */
const graph = new Map(
  imports.files.map((file) => [
    file,
    imports
      .importedBy(file)
      .filter(({ name }) => !name.includes('/dist/'))
      .flatMap(({ name, files }) => (files.length > 0 ? files : [name]).map((to) => ({ name, to }))),
  ]),
);
const broken = [
  ...forbidden(graph),
  ...circleIn(edges(graph)).map((circle) => `no-circular: ${circle}`),
  // A folder that another one needs can be understood, and moved, without that one.
  ...circleIn(foldersOf(edges(graph))).map((circle) => `no-circular-folders: ${circle}`),
];
for (const line of broken) console.log(line);
if (broken.length > 0) process.exitCode = 1;

function forbidden(files) {
  return [...files].flatMap(([from, imported]) =>
    rules.flatMap((rule) => {
      const [, ...groups] = rule.from.exec(from) ?? [undefined, undefined];
      if (!rule.from.test(from)) return [];
      const wrong = imported.filter(({ name, to }) => rule.forbids(to, groups, name));
      return wrong.map(({ to }) => `${rule.name}: ${from} imports ${to}`);
    }),
  );
}

function edges(files) {
  return new Map([...files].map(([from, imported]) => [from, new Set(imported.map(({ to }) => to))]));
}

/** What the files of a folder, or of one below it, need of other folders. */
function foldersOf(files) {
  const folders = new Map();
  for (const [file, imported] of files) {
    for (let folder = dirname(file); folder !== '.'; folder = dirname(folder)) {
      const needed = folders.get(folder) ?? new Set();
      folders.set(folder, needed);
      for (const to of imported) if (!to.startsWith(`${folder}/`)) needed.add(dirname(to));
    }
  }
  return folders;
}

/** The first circle of a graph, as a line; none where there is none. */
function circleIn(nodes) {
  const left = new Map(nodes);
  // What needs nothing that is left is in no circle.
  for (let before = -1; before !== left.size;) {
    before = left.size;
    for (const [node, needed] of left) if (![...needed].some((one) => left.has(one))) left.delete(node);
  }
  const path = [];
  for (let node = left.keys().next().value; node !== undefined;) {
    if (path.includes(node)) return [[...path.slice(path.indexOf(node)), node].join(' -> ')];
    path.push(node);
    node = [...left.get(node)].find((one) => left.has(one));
  }
  return [];
}
