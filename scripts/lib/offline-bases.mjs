import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { chmod, copyFile, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { canInstall, install } from './debian.mjs';
import { projectNode } from './project-node.mjs';
import { capture, run, which } from './steps.mjs';

/**
 * Base images from this machine's own files, for where no registry answers: a busybox for the shell and its tools,
 * the programs of one package, and the libraries that they are linked with.
 */
export const offlineBases = {
  node: base('suzumio-base-node:offline', { '/usr/local/bin/node': async () => projectNode }),
  shell: base('suzumio-base-shell:offline', {}),
  redis: base('suzumio-base-redis:offline', {
    '/usr/local/bin/redis-server': () => command('redis-server', 'redis-server'),
    '/usr/local/bin/redis-cli': () => command('redis-cli', 'redis-tools'),
  }),
  prometheus: base('suzumio-base-prometheus:offline', {
    '/usr/local/bin/prometheus': () => command('prometheus', 'prometheus'),
  }),
};

const texts = {
  '/etc/passwd':
    'root:x:0:0:root:/tmp:/bin/sh\nnode:x:1000:1000:node:/tmp:/bin/sh\nnobody:x:65534:65534:nobody:/tmp:/bin/sh\n',
  '/etc/group': 'root:x:0:\nnode:x:1000:\nnogroup:x:65534:\n',
  '/etc/nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files dns\n',
};
const changes = ['ENV PATH=/usr/local/bin:/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin', 'CMD ["sh"]'];

/** @param programs where each program belongs in the image, and how to find it on this machine */
function base(tag, programs) {
  return {
    tag,
    /** Decides what goes into the image: its hash, and the function that makes a tarball of it for `use`. */
    async plan() {
      const busybox = await command('busybox', 'busybox-static');
      const files = { '/bin/busybox': busybox };
      for (const [target, find] of Object.entries(programs)) files[target] = await find();
      for (const program of Object.values(files)) {
        for (const library of await librariesOf(program)) files[library] = library;
      }
      const { stdout } = await capture(busybox, ['--list-full']);
      const applets = stdout.split('\n').filter((path) => path !== '' && path !== 'bin/busybox');
      const content = await hashOf(files, JSON.stringify([applets, texts, changes]));
      return { content, assemble: (use) => withTarball({ files, applets }, use) };
    },
  };
}

async function withTarball({ files, applets }, use) {
  const directory = await mkdtemp(join(tmpdir(), 'suzumio-image-'));
  try {
    const rootfs = join(directory, 'rootfs');
    const place = async (path, write) => {
      const target = join(rootfs, path);
      await mkdir(dirname(target), { recursive: true });
      await write(target);
    };
    for (const [path, source] of Object.entries(files)) {
      await place(path, async (target) => {
        await copyFile(await realpath(source), target);
        await chmod(target, 0o755);
      });
    }
    for (const applet of applets) await place(applet, (target) => symlink('/bin/busybox', target));
    for (const [path, text] of Object.entries(texts))
      await place(path, (target) => writeFile(target, text, { mode: 0o644 }));
    await mkdir(join(rootfs, 'tmp'));
    await chmod(join(rootfs, 'tmp'), 0o1777);
    const tarball = join(directory, 'rootfs.tar');
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

/** What the loader maps for a program; nothing for a static one. */
async function librariesOf(program) {
  const { stdout } = await capture('ldd', [program]);
  return [...stdout.matchAll(/(\/\S+) \(0x/g)].map(([, path]) => path);
}

async function hashOf(files, rest) {
  const hash = createHash('sha256').update(rest);
  for (const [target, source] of Object.entries(files)) {
    hash.update(`\n${target}\n`);
    for await (const chunk of createReadStream(source)) hash.update(chunk);
  }
  return hash.digest('hex');
}
