import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { createLogger } from '@suzumio/runtime/observability/logger';
import { createBullMqTransport } from '@suzumio/runtime/queue/bullmq-transport';
import { asComposeStarts } from '../../../test/support/compose-limits.js';
import { freePort } from '../../../test/support/free-port.js';
import { docker } from '../../../test/support/images.js';
import { startRedis, type TestRedis } from '../../../test/support/redis.js';
import { agentImage } from './support/images.js';
import { credential } from './support/test-toolhost.js';
import { until } from './support/until.js';
import { World } from './support/world.js';

/** What four of the longest workspaces are made of: names of 255 bytes, each character of which takes six in a manifest. */
const program = `
import fs from 'node:fs';
const [mark] = fs.readFileSync('/workspace/mark', 'utf8');
const long = (start, bytes) => start + '€' + '\\u0001'.repeat(bytes - Buffer.byteLength(start + '€'));
const [directories, each, links] = [4, 4_990, 510];
if (!fs.existsSync('/workspace/0')) {
  for (let at = 0, directory = '/workspace'; at < directories; at += 1, directory += '/0') {
    process.chdir(directory);
    for (let number = 0; number < each; number += 1) {
      const name = long(mark + String(number).padStart(6, '0'), 255);
      if (number < links) fs.symlinkSync(long(mark, 4_000), name);
      else fs.writeFileSync(name, '');
    }
    fs.mkdirSync('0');
  }
}
fs.writeFileSync('/workspace/turns', 'x', { flag: 'a' });
fs.writeFileSync('/turn/output.json', JSON.stringify({ text: 'fine' }));
`;

const image = agentImage();
let redis: TestRedis;
let world: World;
let directory: string;
let container: string | undefined;
beforeEach(async () => {
  redis = await startRedis();
  directory = await mkdtemp('/tmp/suzumio-memory-');
  world = await World.open({ start: false });
});
afterEach(async () => {
  if (container !== undefined) await docker('rm', '--force', '--volumes', container);
  container = undefined;
  await world.close();
  await redis.stop();
  await rm(directory, { recursive: true, force: true });
});

/** Starts a worker on the directory with the memory that Compose gives. */
async function startWorker(): Promise<void> {
  const health = await freePort();
  const policy = join(directory, 'policy.yaml');
  await writeFile(policy, JSON.stringify({ images: ['**'] }));
  const settings = {
    SUZUMIO_CELL: world.cell,
    SUZUMIO_REDIS_URL: redis.url,
    SUZUMIO_TOOLHOST_URL: world.toolhost.toolhostUrl,
    SUZUMIO_TOOLHOST_RUNNER_URL: world.toolhost.runnerUrl,
    SUZUMIO_WORKER_TOKEN: credential,
    SUZUMIO_WORKER_DIR: directory,
    SUZUMIO_TURN_USER: '39400:39400',
    SUZUMIO_POLICY_FILE: policy,
    SUZUMIO_HEALTH_HOST: '127.0.0.1',
    SUZUMIO_HEALTH_PORT: String(health),
    SUZUMIO_LOG_LEVEL: 'warn',
  };
  container = await docker(
    ...['run', '--detach', ...asComposeStarts, '--user', '0:0'],
    ...['CHOWN', 'DAC_OVERRIDE', 'FOWNER'].flatMap((capability) => ['--cap-add', capability]),
    ...[directory, '/var/run/docker.sock'].flatMap((path) => ['--volume', `${path}:${path}`]),
    ...Object.entries(settings).flatMap(([name, value]) => ['--env', `${name}=${value}`]),
    'suzumio-turn-worker:dev',
  );
  const isReady = () =>
    fetch(`http://127.0.0.1:${String(health)}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
  await until(isReady, 'the worker is ready', { show: () => docker('logs', container ?? '') });
}

test('four of the longest workspaces, captured and exchanged at the same time, do not end a worker', async () => {
  await startWorker();
  const transport = createBullMqTransport({
    redisUrl: redis.url,
    cell: world.cell,
    logger: createLogger({ service: 'test', level: 'silent' }),
  });
  const agents = ['a', 'b', 'c', 'd'];
  const run = async (snapshots: readonly (string | null)[]) => {
    const turns = await Promise.all(
      agents.map(async (agent, number) => {
        const claim = world.claimOf({ agent, image: image.name, snapshot: snapshots[number] ?? null });
        const turn = world.toolhost.add(claim);
        const { project, turn: of } = turn.answer.input;
        await transport.addTurnJob({ cell: world.cell, project, epoch: 1, turn: of.id, delivery: 1, priority: 'P1' });
        return turn;
      }),
    );
    const ended = await Promise.all(turns.map(({ answer }) => world.toolhost.ended(answer.input.turn.id)));
    return ended.map(({ completed, failed }) => {
      expect(failed).toBeUndefined();
      return completed?.snapshot ?? null;
    });
  };
  try {
    const [first = null, ...rest] = await run(agents.map((mark) => world.snapshotOf({ 'agent.mjs': program, mark })));
    // Each workspace is brought to another one.
    await run([...rest, first]);
  } finally {
    await transport.close();
  }
  expect(await docker('inspect', '--format', '{{.State.Status}} {{.State.OOMKilled}}', container ?? '')).toBe(
    'running false',
  );
});
