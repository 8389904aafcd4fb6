import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from './poll.js';
import { freePort } from './free-port.js';

/** A real Redis of a test's own. */
export interface TestRedis {
  readonly url: string;
  readonly port: number;
  /** Ends it for good and removes its directory. */
  stop(): Promise<void>;
  /** Ends it as a crash would; `restart` brings an empty one back on the same port. */
  kill(): Promise<void>;
  restart(): Promise<void>;
  /** Stops and continues the process: it keeps its connections and answers nothing. */
  freeze(): void;
  thaw(): void;
}

/** Starts `redis-server` on a free port; `settings` are added to its command line. */
export async function startRedis(settings: readonly string[] = []): Promise<TestRedis> {
  const directory = await mkdtemp(join(tmpdir(), 'suzumio-redis-'));
  const port = await freePort();
  let server = await launch(port, directory, settings);

  async function end(signal: NodeJS.Signals): Promise<void> {
    if (server.exitCode !== null || server.signalCode !== null) return;
    const exited = once(server, 'exit');
    server.kill('SIGCONT');
    server.kill(signal);
    await exited;
  }

  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    async stop() {
      await end('SIGKILL');
      await rm(directory, { recursive: true, force: true });
    },
    kill: () => end('SIGKILL'),
    async restart() {
      await end('SIGKILL');
      server = await launch(port, directory, settings);
    },
    freeze: () => void server.kill('SIGSTOP'),
    thaw: () => void server.kill('SIGCONT'),
  };
}

async function launch(port: number, directory: string, settings: readonly string[]): Promise<ChildProcess> {
  const server = spawn(
    'redis-server',
    [
      '--port',
      String(port),
      '--bind',
      '127.0.0.1',
      '--dir',
      directory,
      '--save',
      '',
      '--appendonly',
      'no',
      ...settings,
    ],
    { stdio: 'ignore' },
  );
  let failure: Error | undefined;
  server.once('error', (error) => (failure = error));
  await eventually(`redis-server answers on port ${port}`, async () => {
    if (failure) throw failure;
    if (server.exitCode !== null) throw new Error(`redis-server ended with exit code ${server.exitCode}`);
    return answers(port);
  });
  return server;
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => socket.write('PING\r\n'));
    socket.once('data', () => finish(true));
    socket.once('error', () => finish(false));
    function finish(result: boolean): void {
      socket.destroy();
      resolve(result);
    }
  });
}
