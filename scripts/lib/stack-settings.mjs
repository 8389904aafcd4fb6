import { createHash, randomBytes } from 'node:crypto';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { chmod, chown, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { homedir, hostname } from 'node:os';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { parseEnv } from 'node:util';
import { dockerHost, usualSocket as socket } from './docker.mjs';
import { root } from './project-node.mjs';

const secret = () => randomBytes(32).toString('hex');
const isRoot = process.getuid?.() === 0;
/** Only a worker that is root in its container can give files to another user than itself. */
const workerUser = '0:0';
/** Users that run nothing else: neither the services (1000), nor a person of this machine. Each project has one. */
const turnUser = '390000000-399999999:39400';

/** What to do where no engine is. */
export const engineMissing = 'start the Docker engine, see that `docker version` works, and run this again.';

/** Every setting of docker-compose.yml, with its default. */
const settings = [
  ['COMPOSE_PROJECT_NAME', () => 'suzumio', 'Begins the names of containers, networks and volumes.'],
  ['SUZUMIO_PUBLISH', () => '127.0.0.1:39400', 'Where the API is reached.'],
  ['SUZUMIO_PROMETHEUS_PUBLISH', () => '127.0.0.1:9090', 'Where Prometheus is reached, if it is started.'],
  ['SUZUMIO_CELL', () => `cell-${randomBytes(4).toString('hex')}`, 'Names this control plane in jobs and containers.'],
  ['SUZUMIO_HOST_NAME', hostLabel, 'Whose data directory it is: this machine.'],
  ['SUZUMIO_WORKER_DIR', workerDirectory, 'Workspaces and what runs now. The workers see it under the same path.'],
  ['SUZUMIO_WORKER_USER', () => workerUser, 'uid:gid of workers, whose the directory is, and of turns.'],
  ['SUZUMIO_TURN_USER', ({ SUZUMIO_WORKER_USER: worker }) => (worker.split(':')[0] === '0' ? turnUser : worker)],
  ['SUZUMIO_TURN_WORKERS', () => '1', 'How many workers there are.'],
  ['SUZUMIO_DOCKER_SOCKET', dockerSocket, "The engine's socket, and the group that may use it."],
  ['SUZUMIO_DOCKER_GROUP', ({ SUZUMIO_DOCKER_SOCKET }) => dockerGroup(SUZUMIO_DOCKER_SOCKET)],
  ['SUZUMIO_WORKSPACES_DIR', () => join(root, 'examples'), 'What project files may have workspaces copied from.'],
  [
    'SUZUMIO_POLICY_FILE',
    (_, file) => join(dirname(file), '.suzumio/policy.yaml'),
    'What project files may ask of this machine.',
  ],
  [
    'SUZUMIO_PROVIDERS_FILE',
    (_, file) => join(dirname(file), '.suzumio/providers.env'),
    'Keys of model providers, for the ToolHost alone.',
  ],
  ['SUZUMIO_REDIS_PASSWORD', secret, 'Secrets.'],
  ['SUZUMIO_WORKER_TOKEN', secret],
  ['SUZUMIO_ADMIN_TOKEN', secret],
];

/**
 * Reads the settings of the stack. What is missing is added to the file, and what is there is left as it is; the
 * environment goes before the file, as it does for Compose.
 *
 * @returns all settings, and the names of those that were added
 */
export async function stackSettings(file) {
  const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
  const written = parseEnv(text);
  const values = { ...written };
  const added = [];
  let addition = '';
  for (const [name, make, meaning] of settings) {
    values[name] = process.env[name] || written[name] || (await make(values, file));
    if (written[name]) continue;
    added.push(name);
    addition += `${meaning === undefined ? '' : `\n# ${meaning}\n`}${name}=${quoted(values[name])}\n`;
  }
  if (added.length > 0) await replace(file, text === '' ? `${heading}${addition}` : `${text.trimEnd()}\n${addition}`);
  else await chmod(file, 0o600);
  return { values, added };
}

/**
 * Writes a newly chosen setting into the file, in place of the old one.
 *
 * @returns all settings with it
 */
export async function keepSetting(file, values, name, value) {
  const line = `${name}=${quoted(value)}`;
  const text = readFileSync(file, 'utf8');
  const lines = text.split('\n');
  const at = lines.findIndex((each) => each.startsWith(`${name}=`));
  if (at < 0) throw new Error(`${file} does not say ${name} on a line of its own; write ${line} there.`);
  if (process.env[name] && process.env[name] !== value) {
    throw new Error(`${name} is ${process.env[name]} in the environment, which goes before ${file}: unset it there.`);
  }
  if (lines[at] !== line) await replace(file, lines.with(at, line).join('\n'));
  return { ...values, [name]: value };
}

const heading = `# Settings of docker-compose.yml, and its secrets: for nobody else to read. What you change stays changed.\n`;

/** Creates missing files that the settings name: the worker's directory, the policy, the file for providers' keys. */
export async function makePlaces({
  SUZUMIO_WORKER_DIR,
  SUZUMIO_WORKER_USER,
  SUZUMIO_TURN_USER,
  SUZUMIO_WORKSPACES_DIR,
  SUZUMIO_POLICY_FILE,
  SUZUMIO_PROVIDERS_FILE,
}) {
  if (!existsSync(SUZUMIO_WORKER_DIR)) {
    await mkdir(SUZUMIO_WORKER_DIR, { recursive: true, mode: 0o700 });
    if (isRoot) await chown(SUZUMIO_WORKER_DIR, ...SUZUMIO_WORKER_USER.split(':').map(Number));
  }
  await makeFile(SUZUMIO_POLICY_FILE, policy(SUZUMIO_WORKSPACES_DIR, SUZUMIO_TURN_USER), 0o644);
  await makeFile(SUZUMIO_PROVIDERS_FILE, providers, 0o600);
}

/**
 * What the services are started with besides their settings. The policy is mounted, and Compose starts nothing anew for
 * what is in a file; so its hash is part of what they are.
 */
export async function startedWith({ SUZUMIO_POLICY_FILE }) {
  return {
    SUZUMIO_POLICY_SHA256: createHash('sha256')
      .update(await readFile(SUZUMIO_POLICY_FILE))
      .digest('hex'),
  };
}

async function makeFile(file, text, mode) {
  if (existsSync(file)) return;
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text, { mode });
  // Read by other users inside the containers, under any umask here.
  await chmod(file, mode);
}

const providers = `# What project files name with apiKeyEnv and baseURLEnv, such as OPENAI_API_KEY=...; npm run stack makes it known.
`;

const policy = (
  directory,
  user,
) => `# What project files may ask of this machine. What is not said here has its default: docs/policy.md
workspaces:
  roots: [${JSON.stringify(directory)}]
# No project file asks for a user${user.includes('-') ? '' : ' but this one'}: 1000 is the services'.
users: ${user.includes('-') ? '[]' : `['${user}']`}
`;

/** Writes a file atomically. */
async function replace(file, text) {
  const temporary = `${file}.${randomBytes(4).toString('hex')}`;
  await writeFile(temporary, text, { mode: 0o600 });
  await rename(temporary, file);
}

function quoted(value) {
  if (/^[\w./:@-]*$/.test(value)) return value;
  if (value.includes("'")) throw new Error(`a setting of the stack cannot contain a quotation mark: ${value}`);
  return `'${value}'`;
}

function hostLabel() {
  const label = hostname()
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, '-')
    .slice(0, 60)
    .replace(/^-+|-+$/g, '');
  return label === '' ? 'suzumio' : label;
}

function workerDirectory() {
  if (isRoot) return '/var/lib/suzumio-worker';
  return join(process.env.XDG_DATA_HOME || join(homedir(), '.local/share'), 'suzumio-worker');
}

async function dockerSocket() {
  const host = await dockerHost();
  if (!host.startsWith('unix://')) {
    throw new Error(
      `Docker's engine is at ${host} (DOCKER_HOST, or the current context). The workers of the stack run on the machine of their engine: run this there, or choose an engine of this machine: unset DOCKER_HOST, docker context use default.`,
    );
  }
  const path = host.slice('unix://'.length) || socket;
  if (!existsSync(path)) throw new Error(`There is no Docker socket ${path}: ${engineMissing}`);
  return inVirtualMachine(path) ? socket : path;
}

/**
 * Whether an engine runs in a virtual machine, of which this socket is only the way in: what a container mounts is a path of
 * that machine, where the engine has the usual one, root's.
 */
function inVirtualMachine(path) {
  return process.platform !== 'linux' || /\/\.(?:docker\/(?:desktop|run)|colima|orbstack|rd|lima)\//.test(path);
}

async function dockerGroup(mounted) {
  const path = (await dockerHost()).slice('unix://'.length) || socket;
  if (inVirtualMachine(path)) return '0';
  if (!existsSync(mounted)) throw new Error(`There is no Docker socket ${mounted}: ${engineMissing}`);
  return String(statSync(mounted).gid);
}
