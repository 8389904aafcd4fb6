import { createHash } from 'node:crypto';
import { createReadStream, existsSync, lstatSync } from 'node:fs';
import { chmod, copyFile, cp, mkdir, mkdtemp, readdir, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { canInstall, install } from './debian.mjs';
import { projectNode } from './project-node.mjs';
import { capture, run, which } from './steps.mjs';

/** As Debian cuts it: of `python3` itself only the names of commands are its own. Those of pip are what it needs. */
const pythonPackages = [
  ...['python3', 'python3-minimal', 'python3.*', 'libpython3.*-minimal', 'libpython3.*-stdlib'],
  ...'pip pkg-resources setuptools wheel'.split(' ').map((name) => `python3-${name}`),
];

/** What numpy, pandas and matplotlib need to calculate and to draw into files: no screen, and no parsers of web pages. */
const sciencePackages = [
  ...'numpy pandas pandas-lib matplotlib contourpy cycler dateutil fonttools kiwisolver packaging pil pyparsing six tz'
    .split(' ')
    .map((name) => `python3-${name}`),
  'python-matplotlib-data',
  'tzdata',
];

/** The language of turns, of the package libc-bin: without it, programs take `LANG=C.UTF-8` for a mistake. */
const utf8Locale = '/usr/lib/locale/C.utf8';

/**
 * Base images from this machine's own files, for where no registry answers: a busybox for the shell and its tools,
 * some programs or whole packages of Debian, and the libraries that they are linked with.
 */
export const offlineBases = {
  node: base('suzumio-base-node:offline', {
    '/usr/local/bin/node': async () => projectNode,
    '/bin/bash': () => command('bash', 'bash'),
  }),
  runner: base(
    'suzumio-base-runner:offline',
    { '/usr/local/bin/node': async () => projectNode },
    'bash ca-certificates coreutils curl git jq make patch python-is-python3 ripgrep'.split(' ').concat(pythonPackages),
    { '/usr/local/lib/node_modules/npm': npmDirectory, [utf8Locale]: async () => utf8Locale },
    {
      '/usr/local/bin/npm': '../lib/node_modules/npm/bin/npm-cli.js',
      '/usr/local/bin/npx': '../lib/node_modules/npm/bin/npx-cli.js',
    },
  ),
  worker: base('suzumio-base-worker:offline', { '/usr/local/bin/node': async () => projectNode }, [
    'bash',
    'ca-certificates',
    'git',
  ]),
  science: layer('suzumio-base-science:offline', 'runner', sciencePackages),
  shell: base('suzumio-base-shell:offline', {}),
  redis: base('suzumio-base-redis:offline', {
    '/usr/local/bin/redis-server': () => command('redis-server', 'redis-server'),
    '/usr/local/bin/redis-cli': () => command('redis-cli', 'redis-tools'),
  }),
  prometheus: base('suzumio-base-prometheus:offline', {
    '/usr/local/bin/prometheus': () => command('prometheus', 'prometheus'),
  }),
};

const systemTexts = {
  '/etc/passwd':
    'root:x:0:0:root:/tmp:/bin/sh\nnode:x:1000:1000:node:/tmp:/bin/sh\nnobody:x:65534:65534:nobody:/tmp:/bin/sh\n',
  '/etc/group': 'root:x:0:\nnode:x:1000:\nnogroup:x:65534:\n',
  '/etc/nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files dns\n',
};
const changes = ['ENV PATH=/usr/local/bin:/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin', 'CMD ["sh"]'];

/**
 * @param programs where each program belongs in the image, and how to find it on this machine
 * @param packages of Debian, all of whose files belong there but for their documentation
 * @param trees where each directory belongs, and how to find it on this machine
 * @param links what each leads to
 */
function base(tag, programs, packages = [], trees = {}, links = {}) {
  return {
    tag,
    /** Decides what goes into the image: its hash, and the function that makes a tarball of it for `use`. */
    async plan() {
      const busybox = await command('busybox', 'busybox-static');
      const files = { '/bin/busybox': busybox };
      for (const [target, find] of Object.entries(programs)) files[target] = await find();
      const packaged = await filesOfPackages(packages);
      const directories = await foundTrees(trees);
      for (const library of await librariesOf([...Object.values(files), ...packaged.filter(isProgram)]))
        files[library] = library;
      const { stdout } = await capture(busybox, ['--list-full']);
      const taken = new Set(packaged.map((path) => basename(path)));
      const applets = stdout
        .split('\n')
        .filter((path) => path !== '' && path !== 'bin/busybox' && !taken.has(basename(path)));
      const whole = {
        ...files,
        ...Object.fromEntries(packaged.filter(isFile).map((path) => [path, path])),
        ...directories.files,
      };
      const content = await hashOf(whole, JSON.stringify([packaged, applets, links, systemTexts, changes]));
      const parts = { files, packaged, applets, directories: directories.sources, links };
      return { content, assemble: (use) => withTarball(parts, use) };
    },
  };
}

/** A base with the files of some packages, and the libraries that they need, over another one. */
function layer(tag, over, packages) {
  return {
    tag,
    over,
    async plan() {
      const packaged = await filesOfPackages(packages, besidesScience);
      const files = {};
      for (const library of await librariesOf(packaged.filter(isProgram))) files[library] = library;
      const whole = { ...files, ...Object.fromEntries(packaged.filter(isFile).map((path) => [path, path])) };
      const content = await hashOf(whole, JSON.stringify(packaged));
      return { content, assemble: (use) => withTarball({ files, packaged, applets: [], texts: {} }, use) };
    },
  };
}

async function withTarball({ files, packaged, applets, directories = {}, links = {}, texts = systemTexts }, use) {
  const directory = await mkdtemp(join(tmpdir(), 'suzumio-image-'));
  try {
    const rootfs = join(directory, 'rootfs');
    const place = async (path, write) => {
      const target = join(rootfs, path);
      await mkdir(dirname(target), { recursive: true });
      await write(target);
    };
    if (packaged.length > 0) await copyPackaged(packaged, rootfs);
    for (const [path, source] of Object.entries(files)) {
      await place(path, async (target) => {
        await copyFile(await realpath(source), target);
        await chmod(target, 0o755);
      });
    }
    for (const [path, source] of Object.entries(directories))
      await place(path, (target) => cp(source, target, { recursive: true, filter: (from) => isWanted(source, from) }));
    for (const [path, to] of Object.entries(links)) await place(path, (target) => symlink(to, target));
    for (const applet of applets) await place(applet, (target) => symlink('/bin/busybox', target));
    for (const [path, text] of Object.entries(texts))
      await place(path, (target) => writeFile(target, text, { mode: 0o644 }));
    await mkdir(join(rootfs, 'tmp'));
    await chmod(join(rootfs, 'tmp'), 0o1777);
    await mkdir(join(directory, 'image'));
    const tarball = join(directory, 'image', 'rootfs.tar');
    // Every user of the image reads all of it, under any umask here.
    const asRoots = ['--owner=0', '--group=0', '--numeric-owner', '--mode=a+rX'];
    await run('tar', [...asRoots, '-C', rootfs, '-cf', tarball, '.']);
    await use(tarball, changes);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** The path of a command; its Debian package is installed where that is possible. */
async function command(name, debianPackage) {
  if (!(await which(name)) && canInstall()) await install(debianPackage);
  const path = await which(name);
  if (path) return path;
  throw new Error(`images without a registry need ${name} on this machine (Debian: apt-get install ${debianPackage})`);
}

/** npm as it is beside Node on this machine, with all that it needs. */
async function npmDirectory() {
  const directory = join(await realpath(await command('npm', 'npm')), '..', '..');
  if (existsSync(join(directory, 'node_modules'))) return directory;
  throw new Error(
    `images without a registry take npm from this machine, and ${directory} is not all of it: npm install --global npm`,
  );
}

/** Where trees are on this machine, and each file that belongs into the image. */
async function foundTrees(trees) {
  const [sources, files] = [{}, {}];
  for (const [target, find] of Object.entries(trees)) {
    const source = await find();
    sources[target] = source;
    for (const entry of await readdir(source, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name);
      if (entry.isFile() && isWanted(source, path)) files[join(target, relative(source, path))] = path;
    }
  }
  return { sources, files };
}

/** No documentation. */
const isWanted = (source, path) => !/^(?:docs|man)(?:\/|$)/.test(relative(source, path));

/** What the loader maps for some programs; nothing for a static one. */
async function librariesOf(programs) {
  const { stdout } = await capture('ldd', programs);
  return new Set([...stdout.matchAll(/(\/\S+) \(0x/g)].map(([, path]) => path));
}

const documentation = /^\/usr\/share\/(?!git-core)|^\/etc\/(?!ssl)|\/(?:test|idlelib|ensurepip)\//;
const besidesScience = /^\/usr\/share\/(?!matplotlib|zoneinfo)|^\/etc\/(?!matplotlibrc)|\/tests?\//;

/** The files of some of Debian's packages, and what Python has compiled of its own. */
async function filesOfPackages(patterns, leftOut = documentation) {
  if (patterns.length === 0) return [];
  const names = patterns.filter((pattern) => !pattern.includes('*'));
  const listed = async () => (await capture('dpkg-query', ['--listfiles', ...(await installed(patterns))])).stdout;
  if (!(await which('dpkg-query')))
    throw new Error(`images without a registry take ${names.join(', ')} from Debian's packages, and this is no Debian`);
  const there = await installed(names);
  const missing = names.filter((name) => !there.includes(name));
  if (missing.length > 0 && canInstall()) await install('--no-install-recommends', ...missing);
  else if (missing.length > 0) throw new Error(`images without a registry need apt-get install ${missing.join(' ')}`);
  const paths = (await listed()).split('\n').filter((path) => /^\/[^/]+\//.test(path) && !leftOut.test(path));
  const compiled = await Promise.all(paths.filter((path) => path.endsWith('.py')).map(compiledOf));
  const certificates = ['/etc/ssl/certs/ca-certificates.crt'];
  return [...new Set([...paths, ...compiled.flat(), ...certificates])]
    .filter((path) => isFile(path) || isLink(path))
    .sort();
}

/** Those of some packages, by their names or patterns of them, that are installed here. */
async function installed(patterns) {
  const format = '${db:Status-Abbrev} ${Package}\n';
  const { stdout } = await capture('dpkg-query', ['--show', '--showformat', format, ...patterns]);
  const wanted = /^ii\s+(?!.*(?:-dev|-dbg|-doc|-venv|-examples|-nopie|-full|-distutils)$)(\S+)$/;
  return stdout.split('\n').flatMap((line) => wanted.exec(line)?.[1] ?? []);
}

async function compiledOf(source) {
  const directory = join(dirname(source), '__pycache__');
  const names = await readdir(directory).catch(() => []);
  const beginning = `${basename(source, '.py')}.cpython-`;
  return names.filter((name) => name.startsWith(beginning)).map((name) => join(directory, name));
}

/** With their links, which would be many copies otherwise. */
async function copyPackaged(paths, rootfs) {
  await mkdir(rootfs, { recursive: true });
  const list = `${rootfs}.list`;
  await writeFile(list, paths.map((path) => path.slice(1)).join('\n'));
  const tarball = `${rootfs}.packaged.tar`;
  await run('tar', ['-C', '/', '--no-recursion', '-cf', tarball, '-T', list]);
  await run('tar', ['-C', rootfs, '--no-same-owner', '-xf', tarball]);
}

const statusOf = (path) => lstatSync(path, { throwIfNoEntry: false });
const isFile = (path) => statusOf(path)?.isFile() === true;
const isLink = (path) => statusOf(path)?.isSymbolicLink() === true;
const isProgram = (path) => isFile(path) && (/\.so(?:\.|$)/.test(path) || (statusOf(path).mode & 0o111) !== 0);

async function hashOf(files, rest) {
  const hash = createHash('sha256').update(rest);
  for (const [target, source] of Object.entries(files)) {
    hash.update(`\n${target}\n`);
    for await (const chunk of createReadStream(source)) hash.update(chunk);
  }
  return hash.digest('hex');
}
