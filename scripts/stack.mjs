// npm run stack: the services in containers of their own, by docker-compose.yml.
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import process from 'node:process';
import { buildServices } from './lib/checks.mjs';
import { openStack, requireFreePort } from './lib/compose.mjs';
import { engineAnswers } from './lib/docker.mjs';
import { bringImagesUpToDate } from './lib/images.mjs';
import { onProjectNode } from './lib/project-node.mjs';
import { engineMissing, keepSetting, makePlaces, stackSettings, startedWith } from './lib/stack-settings.mjs';
import { readOptions } from './lib/options.mjs';
import { capture, main, run, step } from './lib/steps.mjs';

const healthyWithinMs = 300_000;

const usage = `usage: npm run stack [-- --offline | --registry | --no-build] [--metrics] [--scale turn-worker=N] [--settings FILE]
       npm run stack -- status | logs [SERVICE…] [--follow] | env | down [--volumes]`;
const { values: options, positionals } = readOptions(usage, {
  allowPositionals: true,
  options: {
    offline: { type: 'boolean' },
    registry: { type: 'boolean' },
    'no-build': { type: 'boolean' },
    metrics: { type: 'boolean' },
    scale: { type: 'string', multiple: true, default: [] },
    settings: { type: 'string', default: '.env' },
    volumes: { type: 'boolean' },
    follow: { type: 'boolean', short: 'f' },
  },
});
const [command = 'up', ...rest] = positionals;
const commands = { up, status, logs, env, down };

await main(async () => {
  if (!Object.hasOwn(commands, command)) {
    throw new Error(`npm run stack has no "${command}"; there are ${Object.keys(commands).join(', ')}`);
  }
  if (command === 'up') await onProjectNode({ checks: false });
  const file = resolve(options.settings);
  if (command !== 'up' && !existsSync(file)) throw new Error(`There is no ${file}. next: npm run stack`);
  await commands[command](file, await stackSettings(file));
});

async function up(file, { values: settings, added }) {
  const workers = workersWanted();
  const values = workers === undefined ? settings : await keepSetting(file, settings, 'SUZUMIO_TURN_WORKERS', workers);
  if (!(await engineAnswers())) throw new Error(`No Docker engine answers: ${engineMissing}`);
  const stack = await openStack(file, values.COMPOSE_PROJECT_NAME);
  const running = new Set(
    (await stack.states()).filter(({ state }) => state === 'running').map(({ service }) => service),
  );
  if (!running.has('api')) await requireFreePort(values.SUZUMIO_PUBLISH, 'SUZUMIO_PUBLISH');
  if (options.metrics && !running.has('prometheus')) {
    await requireFreePort(values.SUZUMIO_PROMETHEUS_PUBLISH, 'SUZUMIO_PROMETHEUS_PUBLISH');
  }
  if (added.length > 0) console.log(`Added to ${file}: ${added.join(', ')}`);
  await makePlaces(values);
  if (!options['no-build']) {
    const source = options.offline ? 'offline' : options.registry ? 'registry' : 'auto';
    await step('Build', buildServices);
    await step('Images', () => bringImagesUpToDate({ source, stack: true }));
  }
  await step('Start', async () => {
    await stack.up(options.metrics ? ['metrics'] : [], await startedWith(values));
    await stack.healthy({ timeoutMs: healthyWithinMs });
  });
  console.log(next(values, await pageOf(values)));
}

/** How many workers there are to be from now on; undefined where that stays as it is. */
function workersWanted() {
  const [workers] = options.scale.slice(-1);
  if (workers === undefined) return undefined;
  const number = /^turn-worker=(\d{1,3})$/.exec(workers)?.[1];
  if (number !== undefined) return String(Number(number));
  throw new Error(`--scale ${workers}: expected turn-worker=N; there is one of every other service.`);
}

/** The page's address; on a terminal one that signs a browser in, once. */
async function pageOf({ SUZUMIO_PUBLISH, SUZUMIO_ADMIN_TOKEN }) {
  const address = `http://${SUZUMIO_PUBLISH}`;
  if (!process.stdout.isTTY) return `${address}/   (npx suzumio open signs you in)`;
  const response = await fetch(`${address}/api/sign-in-links`, {
    method: 'POST',
    headers: { authorization: `Bearer ${SUZUMIO_ADMIN_TOKEN}`, 'content-type': 'application/json' },
    body: '{}',
  });
  const { url, detail } = await response.json();
  return url ? `${url}   (signs you in, once, within ten minutes)` : detail;
}

function next({ SUZUMIO_PUBLISH, SUZUMIO_PROMETHEUS_PUBLISH }, page) {
  const settings = options.settings === '.env' ? '' : ` --settings ${options.settings}`;
  return `
Suzumio serves at http://${SUZUMIO_PUBLISH}.
page: ${page}
next: eval "$(npm run --silent stack -- env${settings})"    lets npx suzumio find it, with its administrator's token
      npx suzumio status
  or  npm run stack -- --scale turn-worker=3${settings}     runs more workers from now on
      npm run stack -- --metrics${settings}                 adds Prometheus, at http://${SUZUMIO_PROMETHEUS_PUBLISH}
      npm run stack -- status${settings}                    shows how it stands; logs, what it says
      npm run stack -- down${settings}                      stops it; its data stays`;
}

async function status(file, { values }) {
  const stack = await openStack(file, values.COMPOSE_PROJECT_NAME);
  await stack.compose('ps');
}

async function logs(file, { values }) {
  const stack = await openStack(file, values.COMPOSE_PROJECT_NAME);
  await stack.compose('logs', '--tail', '100', ...(options.follow ? ['--follow'] : []), ...rest);
}

/** For a shell to evaluate. */
function env(_file, { values }) {
  console.log(`export SUZUMIO_URL=http://${values.SUZUMIO_PUBLISH} SUZUMIO_TOKEN=${values.SUZUMIO_ADMIN_TOKEN}`);
}

async function down(file, { values }) {
  const stack = await openStack(file, values.COMPOSE_PROJECT_NAME);
  await stack.compose('down', '--remove-orphans', ...(options.volumes ? ['--volumes'] : []));
  if (!options.volumes) return;
  await removeKept(values.SUZUMIO_CELL);
  console.log(
    `The agents' workspaces are still in ${values.SUZUMIO_WORKER_DIR}; delete it, as whoever it belongs to, if nobody needs them.`,
  );
}

/** Containers of failed attempts are kept a while to be looked at; no worker is left that would remove them. */
async function removeKept(cell) {
  const { stdout } = await capture('docker', ['ps', '--all', '--quiet', '--filter', `label=suzumio.cell=${cell}`]);
  const kept = stdout.split('\n').filter((id) => id !== '');
  if (kept.length > 0) await run('docker', ['rm', '--force', ...kept], { stdio: ['ignore', 'ignore', 'inherit'] });
}
