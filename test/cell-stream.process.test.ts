import { once } from 'node:events';
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { createClient, followCell, SuzumioError } from '../sdk/src/index.js';
import { teamYaml } from './support/cell.js';
import { freePort } from './support/free-port.js';
import { eventually } from './support/poll.js';

const command = fileURLToPath(new URL('../cli/dist/main.js', import.meta.url));

let root: string;
let port: number;
let server: ChildProcess | undefined;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'suzumio-stream-'));
  port = await freePort();
});
afterEach(async () => {
  await kill();
  await rm(root, { recursive: true, force: true });
});

async function serve(): Promise<void> {
  const args = [command, 'serve', '--root', root, '--port', String(port), '--no-scheduler'];
  server = spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  let out = '';
  server.stdout?.setEncoding('utf8').on('data', (text: string) => (out += text));
  await eventually('it listens', () => out.includes('listens on'));
}

async function kill(): Promise<void> {
  if (server?.exitCode !== null || server.signalCode !== null) return;
  const ended = once(server, 'exit');
  server.kill('SIGKILL');
  await ended;
}

test('whoever follows all projects misses nothing and gets nothing twice when the server is killed', async () => {
  await serve();
  const token = (await readFile(join(root, 'admin.token'), 'utf8')).trim();
  const api = createClient({ url: `http://127.0.0.1:${port}`, token });
  const projects = ['one', 'two'];
  for (const name of projects)
    await api.createProject({ body: { file: teamYaml.replace('name: team', `name: ${name}`) } });

  const heard: string[] = [];
  const over = new AbortController();
  let lost = 0;
  const following = (async () => {
    const events = followCell(api, { types: ['message.created'], onLost: () => (lost += 1), signal: over.signal });
    for await (const { project, data } of events)
      heard.push(`${project} ${String((data as { excerpt?: string }).excerpt)}`);
  })();
  // A stream that has begun says nothing until there is news.
  await eventually('it is heard', async () => {
    await api.sendMessage({ project: 'one', body: { recipient: 'ada', body: 'Hello.' } });
    return heard.length > 0;
  });
  const said: string[] = [];
  const say = async (number: number) => {
    for (const project of projects) {
      const message = { recipient: 'ada', body: `Letter ${number}` };
      // Sent again with its key, it takes effect once, whether or not its answer was lost.
      await eventually('it is sent', () =>
        api.sendMessage({ project, body: message }, { idempotencyKey: `${project}-${number}` }).then(
          () => true,
          (error: unknown) => {
            if (error instanceof SuzumioError && error.retryable) return false;
            throw error;
          },
        ),
      );
      said.push(`${project} ${message.body}`);
    }
  };
  for (let number = 1; number <= 20; number += 1) {
    // Killed between a commit and its event, or not: the next server goes on where the stream was.
    const killed = number % 8 === 0 ? kill().then(serve) : undefined;
    await say(number);
    await killed;
  }
  const letters = () => heard.filter((text) => text.includes('Letter'));
  await eventually('all is heard', () => letters().length >= said.length);
  over.abort();
  await following;
  for (const project of projects) {
    const of = (list: string[]) => list.filter((text) => text.startsWith(project));
    expect(of(letters())).toEqual(of(said));
  }
  expect(lost).toBeGreaterThanOrEqual(1);
});
