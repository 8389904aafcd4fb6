import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { clearTimeout, setTimeout } from 'node:timers';
import { offlineBases } from './offline-bases.mjs';
import { capture, run } from './steps.mjs';

/** Where the bases come from without `--offline`; the Dockerfiles name the same ones as their defaults. */
const registryBases = {
  node: 'node:24-slim',
  runner: 'node:24-slim',
  worker: 'node:24-slim',
  science: 'node:24-slim',
  shell: 'busybox:1.37',
  redis: 'redis:7-alpine',
  prometheus: 'prom/prometheus:v3.5.0',
};

/** How a suite says that it uses the stack. */
const stackWords = /ComposeStack/;

/** An image is a Dockerfile over a base, whether the base was pulled or assembled, and the files that it copies. */
const images = [
  runnerImage('dev', 'runner'),
  { ...runnerImage('science', 'science', ['PYTHON_MODULES=matplotlib numpy pandas']), for: ['science', 'tests'] },
  testImage('base', 'node'),
  testImage('nonode', 'shell'),
  testImage('redis', 'redis'),
  serviceImage('api', ['sqlite']),
  serviceImage('scheduler', ['sqlite']),
  serviceImage('toolhost', ['sqlite']),
  serviceImage('turn-worker', [], 'worker'),
  stackImage('redis', ['redis.conf', 'redis-start.sh']),
  stackImage('prometheus', ['prometheus/prometheus.yml', 'prometheus/alerts.yml'], /'--metrics'/),
];

/** What turns run in. */
function runnerImage(version, base, args = []) {
  const copies = ['runner/dist/bundle'];
  return { tag: `suzumio-runner:${version}`, base, dockerfile: 'runner/Dockerfile', copies, args };
}

/** For tests alone. */
function testImage(name, base) {
  return { tag: `suzumio-test-${name}:dev`, base, dockerfile: `deploy/images/test-${name}.Dockerfile`, for: ['tests'] };
}

/** A service, from what the last build left. */
function serviceImage(target, parts = [], base = 'node') {
  const context = '.cache/services';
  const copies = ['common', ...parts, target].map((part) => `${context}/${part}`);
  return {
    tag: `suzumio-${target}:dev`,
    base,
    dockerfile: 'deploy/Dockerfile',
    context,
    target,
    copies,
    words: stackWords,
    for: ['stack'],
  };
}

/** What the services need beside them. */
function stackImage(name, files, words = stackWords) {
  const context = 'deploy';
  const copies = files.map((file) => `${context}/${file}`);
  return {
    tag: `suzumio-${name}:dev`,
    base: name,
    dockerfile: `deploy/images/${name}.Dockerfile`,
    context,
    copies,
    words,
    for: ['stack'],
  };
}

/** The label with the hash of an image's sources: an image with an unchanged hash is not rebuilt. */
const contentLabel = 'suzumio.content';

/**
 * Brings the images up to date.
 *
 * @param options.source `registry`, `offline`, or `auto`: what was used before, else the registry if it answers
 * @param options.science whether the runner's image with numpy, pandas and matplotlib is wanted, too
 * @param options.tests whether the images that only tests use are wanted, too
 * @param options.stack whether those of docker-compose.yml are wanted, too
 * @param options.words the words of suites: those images are wanted that they name
 */
export async function bringImagesUpToDate({ source, science = false, tests = false, stack = false, words = [] }) {
  const wanted = { science, tests, stack };
  const isNamed = ({ tag, words: by }) => words.some((each) => each.includes(tag) || by?.test(each));
  const isWanted = (image) => !image.for || image.for.some((use) => wanted[use]) || isNamed(image);
  const from = source === 'auto' ? await chooseSource() : source;
  const bases = {};
  let rebuilt = 0;
  for (const image of images.filter(isWanted)) {
    const { tag, base, dockerfile, copies = [] } = image;
    bases[base] ??= from === 'offline' ? await assembled(base) : await pulled(registryBases[base]);
    const files = (await Promise.all([dockerfile, ...copies].map(filesOf))).flat();
    const content = hashOf([
      bases[base].id,
      ...(image.args ?? []),
      ...(await Promise.all(files.map((file) => readFile(file)))),
    ]);
    const unchanged = (await inspect(tag))?.content === content;
    if (!unchanged) {
      await build({ ...image, base: bases[base].tag, content });
      rebuilt += 1;
    }
    console.log(`    ${tag}: ${unchanged ? 'unchanged' : 'built'}`);
  }
  if (rebuilt > 0) await removeReplaced();
}

async function chooseSource() {
  if (await inspect(registryBases.node)) return 'registry';
  if (await inspect(offlineBases.node.tag)) return 'offline';
  const answerWithinMs = 10_000;
  console.log(`    pulling ${registryBases.node} (a registry has ${answerWithinMs / 1000} s to answer)`);
  if (await pull(registryBases.node, answerWithinMs)) return 'registry';
  console.log("    no registry answers: going on as with --offline, from this machine's own packages");
  return 'offline';
}

async function pulled(tag) {
  if (!(await inspect(tag)) && !(await pull(tag)))
    throw new Error(`cannot pull ${tag}; --offline does without a registry`);
  return { tag, ...(await inspect(tag)) };
}

/** Resolves with whether the image is here now. The first output means that the registry answered. */
function pull(tag, answerWithinMs) {
  return new Promise((resolve, reject) => {
    const child = spawn('docker', ['pull', tag], { stdio: ['ignore', 'pipe', 'inherit'] });
    const timer = answerWithinMs === undefined ? undefined : setTimeout(() => child.kill('SIGKILL'), answerWithinMs);
    child.stdout.on('data', () => clearTimeout(timer));
    child.on('error', reject);
    child.on('close', (code) => {
      clearTimeout(timer);
      resolve(code === 0);
    });
  });
}

async function assembled(name) {
  const { tag, over, plan } = offlineBases[name];
  const below = over === undefined ? undefined : await assembled(over);
  const { content: own, assemble } = await plan();
  const content = below === undefined ? own : hashOf([below.id, own]);
  if ((await inspect(tag))?.content !== content) {
    console.log(`    assembling ${tag}`);
    const label = `LABEL ${contentLabel}=${content}`;
    const quietly = { stdio: ['ignore', 'ignore', 'inherit'] };
    await assemble(async (tarball, changes) => {
      if (below === undefined) {
        const all = [...changes, label].flatMap((change) => ['--change', change]);
        await run('docker', ['import', ...all, tarball, tag], quietly);
      } else {
        const dockerfile = [`FROM ${below.tag}`, `ADD ${basename(tarball)} /`, label].join('\n');
        await writeFile(join(dirname(tarball), 'Dockerfile'), dockerfile);
        await run('docker', ['build', '--quiet', '--tag', tag, dirname(tarball)], quietly);
      }
    });
  }
  return { tag, ...(await inspect(tag)) };
}

async function build({ tag, dockerfile, context = dirname(dockerfile), target, base, args: settings = [], content }) {
  const args = [`BASE=${base}`, ...settings].flatMap((setting) => ['--build-arg', setting]);
  args.push('--label', `${contentLabel}=${content}`);
  if (target !== undefined) args.push('--target', target);
  const { code, stdout, stderr } = await capture('docker', ['build', '-t', tag, '-f', dockerfile, ...args, context]);
  if (code !== 0) throw new Error(`docker build of ${tag} failed:\n${stdout}${stderr}`);
}

/** Images of ours that lost their tag to a newer one and that no container uses. */
async function removeReplaced() {
  const filters = ['--filter', `label=${contentLabel}`, '--filter', 'dangling=true'];
  await run('docker', ['image', 'prune', '--force', ...filters], { stdio: ['ignore', 'ignore', 'inherit'] });
}

/** A file, or all those below a directory, in an order that is always the same. */
async function filesOf(path) {
  if (!(await stat(path)).isDirectory()) return [path];
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

async function inspect(tag) {
  const format = `{{.Id}} {{with .Config.Labels}}{{index . "${contentLabel}"}}{{end}}`;
  const { code, stdout } = await capture('docker', ['image', 'inspect', '--format', format, tag]);
  if (code !== 0) return undefined;
  const [id, content] = stdout.trim().split(' ');
  return { id, content };
}

const hashOf = (parts) => parts.reduce((hash, part) => hash.update(part), createHash('sha256')).digest('hex');
