import { existsSync, realpathSync } from 'node:fs';
import { createServer } from 'node:net';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { dockerHost } from './docker.mjs';
import { root } from './project-node.mjs';
import { capture, run } from './steps.mjs';

/** This machine's Compose, as a command and its first arguments; undefined where there is none. */
export async function composeCommand() {
  for (const command of [['docker', 'compose'], ['docker-compose']]) {
    const { code } = await capture(command[0], [...command.slice(1), 'version']);
    if (code === 0) return command;
  }
  return undefined;
}

/** How to get it. */
export const composeByHand =
  'install it (Debian, Ubuntu: apt-get install docker-compose; elsewhere: https://docs.docker.com/compose/install)';

/** The stack of one settings file. Refuses one that another copy of the project has started and still could look after. */
export async function openStack(file, project) {
  const found = await composeCommand();
  if (!found) throw new Error(`There is no Docker Compose here: ${composeByHand}, and run this again.`);
  await refuseForeign(file, project);
  const [command, ...first] = found;
  // Compose 1 knows no contexts.
  const host = await dockerHost();
  const here = { ...process.env, ...(host.startsWith('unix://') ? { DOCKER_HOST: host } : {}) };
  const compose = (profiles, args, variables = {}) => {
    const common = ['--env-file', file, '--project-name', project, ...profiles.flatMap((name) => ['--profile', name])];
    return run(command, [...first, ...common, ...args], { cwd: root, env: { ...here, ...variables } });
  };

  /** The containers of the stack. */
  async function states() {
    const labels = [`com.docker.compose.project=${project}`, 'com.docker.compose.oneoff=False'];
    const filters = labels.flatMap((label) => ['--filter', `label=${label}`]);
    const format = '{{.Names}}\t{{.Label "com.docker.compose.service"}}\t{{.State}}\t{{.Status}}';
    const { stdout } = await capture('docker', ['ps', '--all', ...filters, '--format', format]);
    return stdout
      .split('\n')
      .filter(Boolean)
      .map((line) => line.split('\t'))
      .map(([name, service, state, status]) => ({ name, service, state, status }));
  }

  return {
    states,
    up: (profiles, variables, ...args) => compose(profiles, ['up', '--detach', ...args], variables),
    /** For what is already there, with any settings. */
    compose: (...args) => compose(['metrics'], args),

    /** Waits until every container is healthy; prints the last output of those that do not become so. */
    async healthy({ timeoutMs }) {
      const deadlineMs = Date.now() + timeoutMs;
      for (;;) {
        const all = await states();
        const healthy = await Promise.all(all.map(isHealthy));
        const waiting = all.filter((_, index) => !healthy[index]);
        if (waiting.length === 0) return;
        if (Date.now() > deadlineMs) throw new Error(await complaint(waiting, timeoutMs));
        await sleep(250);
      }
    },
  };
}

/** Checks a container that has just started: the engine's own first check comes seconds later. */
async function isHealthy({ name, status }) {
  if (!status.includes('(health: starting)')) return status.includes('(healthy)');
  const { stdout } = await capture('docker', ['inspect', '--format', '{{json .Config.Healthcheck.Test}}', name]);
  const [kind, ...command] = JSON.parse(stdout || '[]');
  const shell = kind === 'CMD-SHELL' ? ['sh', '-c'] : [];
  return (await capture('docker', ['exec', name, ...shell, ...command])).code === 0;
}

/** Compose identifies stacks by name alone: it would apply this one's settings to the other, or take it down. */
async function refuseForeign(file, project) {
  const label = 'com.docker.compose.project';
  const format = `{{.Label "${label}.working_dir"}}`;
  const { stdout } = await capture('docker', [
    'ps',
    '--all',
    '--filter',
    `label=${label}=${project}`,
    '--format',
    format,
  ]);
  const other = stdout
    .split('\n')
    .find((directory) => directory !== '' && existsSync(directory) && realpathSync(directory) !== realpathSync(root));
  if (other === undefined) return;
  throw new Error(
    `The stack "${project}" on this machine belongs to ${other}. Set COMPOSE_PROJECT_NAME in ${file} to a name of its own, and SUZUMIO_PUBLISH to another address.`,
  );
}

async function complaint(waiting, timeoutMs) {
  const told = await Promise.all(
    waiting.map(async ({ name, state }) => {
      const { stdout, stderr } = await capture('docker', ['logs', '--tail', '5', name]);
      return `${name} (${state}):\n${(stdout + stderr).replace(/^/gm, '  ').trimEnd()}`;
    }),
  );
  return `Not healthy within ${timeoutMs / 1000} s:\n${told.join('\n')}\nnext: npm run stack -- logs`;
}

/** Reports the fault before Compose does in the middle of its work. */
export async function requireFreePort(address, variable) {
  const [, host, port] = /^(.*):(\d+)$/.exec(address) ?? [];
  if (port === undefined)
    throw new Error(`${variable} is "${address}"; expected ADDRESS:PORT, such as 127.0.0.1:39400`);
  const error = await new Promise((resolve) => {
    const server = createServer();
    server.once('error', resolve);
    server.listen({ host, port: Number(port) }, () => server.close(() => resolve(undefined)));
  });
  if (error === undefined) return;
  const why =
    error.code === 'EADDRINUSE'
      ? 'is taken; `npm start` and `suzumio serve` use it, too'
      : `cannot be had (${error.code})`;
  throw new Error(`${address} ${why}. Stop what uses it, or set ${variable} in .env to another address.`);
}
