import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { clearTimeout, setTimeout } from 'node:timers';
import { offlineBases } from './offline-bases.mjs';
import { capture, run } from './steps.mjs';

/** Where the bases come from without `--offline`; the Dockerfiles name the same ones as their defaults. */
const registryBases = { node: 'node:24-slim', shell: 'busybox:1.37', redis: 'redis:7-alpine' };

/** An image is a Dockerfile over a base, whether the base was pulled or assembled. */
const images = [
  { tag: 'suzumio-runner:dev', base: 'node', dockerfile: 'runner/Dockerfile', copies: ['runner/dist/runner.mjs'] },
  { tag: 'suzumio-test-base:dev', base: 'node', dockerfile: 'deploy/images/test-base.Dockerfile', test: true },
  { tag: 'suzumio-test-nonode:dev', base: 'shell', dockerfile: 'deploy/images/test-nonode.Dockerfile', test: true },
  { tag: 'suzumio-test-redis:dev', base: 'redis', dockerfile: 'deploy/images/test-redis.Dockerfile', test: true },
];

/** Holds the hash of all that an image was made from: an image whose hash has not changed is left alone. */
const contentLabel = 'suzumio.content';

/**
 * Brings the images up to date.
 *
 * @param options.source `registry`, `offline`, or `auto`: what was used before, else the registry if it answers
 * @param options.tests whether the images that only tests use are wanted, too
 */
export async function bringImagesUpToDate({ source, tests }) {
  const from = source === 'auto' ? await chooseSource() : source;
  const bases = {};
  let rebuilt = 0;
  for (const { tag, base, dockerfile, copies = [] } of images.filter((image) => tests || !image.test)) {
    bases[base] ??= from === 'offline' ? await assembled(base) : await pulled(registryBases[base]);
    const files = await Promise.all([dockerfile, ...copies].map((file) => readFile(file)));
    const content = hashOf([bases[base].id, ...files]);
    const unchanged = (await inspect(tag))?.content === content;
    if (!unchanged) {
      await build({ tag, dockerfile, base: bases[base].tag, content });
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
  const { tag, plan } = offlineBases[name];
  const { content, assemble } = await plan();
  if ((await inspect(tag))?.content !== content) {
    console.log(`    assembling ${tag}`);
    await assemble(async (tarball, changes) => {
      const all = [...changes, `LABEL ${contentLabel}=${content}`].flatMap((change) => ['--change', change]);
      await run('docker', ['import', ...all, tarball, tag], { stdio: ['ignore', 'ignore', 'inherit'] });
    });
  }
  return { tag, ...(await inspect(tag)) };
}

async function build({ tag, dockerfile, base, content }) {
  const context = dockerfile.slice(0, dockerfile.lastIndexOf('/'));
  const labels = ['--build-arg', `BASE=${base}`, '--label', `${contentLabel}=${content}`];
  const { code, stdout, stderr } = await capture('docker', ['build', '-t', tag, '-f', dockerfile, ...labels, context]);
  if (code !== 0) throw new Error(`docker build of ${tag} failed:\n${stdout}${stderr}`);
}

/** Images of ours that lost their tag to a newer one and that no container uses. */
async function removeReplaced() {
  const filters = ['--filter', `label=${contentLabel}`, '--filter', 'dangling=true'];
  await run('docker', ['image', 'prune', '--force', ...filters], { stdio: ['ignore', 'ignore', 'inherit'] });
}

async function inspect(tag) {
  const format = `{{.Id}} {{with .Config.Labels}}{{index . "${contentLabel}"}}{{end}}`;
  const { code, stdout } = await capture('docker', ['image', 'inspect', '--format', format, tag]);
  if (code !== 0) return undefined;
  const [id, content] = stdout.trim().split(' ');
  return { id, content };
}

const hashOf = (parts) => parts.reduce((hash, part) => hash.update(part), createHash('sha256')).digest('hex');
