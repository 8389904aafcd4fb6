import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { eventually } from './poll.js';
import { freePort } from './free-port.js';

/** A real Prometheus of a test's own. */
export interface TestPrometheus {
  /** The single figure that an expression comes to now; undefined where there is none. */
  ask(expression: string): Promise<number | undefined>;
  /** Ends it and removes its directory. */
  stop(): Promise<void>;
}

/** Starts `prometheus` with a configuration on a free port. */
export async function startPrometheus(configuration: string): Promise<TestPrometheus> {
  const directory = await mkdtemp(join(tmpdir(), 'suzumio-prometheus-'));
  const file = join(directory, 'prometheus.yml');
  const address = `127.0.0.1:${String(await freePort())}`;
  await writeFile(file, configuration);
  const server = spawn(
    'prometheus',
    [
      `--config.file=${file}`,
      `--storage.tsdb.path=${join(directory, 'data')}`,
      `--web.listen-address=${address}`,
      '--log.level=error',
    ],
    { stdio: ['ignore', 'ignore', 'inherit'] },
  );
  const prometheus: TestPrometheus = {
    async ask(expression) {
      const response = await fetch(`http://${address}/api/v1/query?query=${encodeURIComponent(expression)}`);
      const answer = (await response.json()) as { data?: { result: { value: [number, string] }[] }; error?: string };
      if (!answer.data) throw new Error(`Prometheus refused ${expression}: ${String(answer.error)}`);
      const value = answer.data.result[0]?.value[1];
      return value === undefined ? undefined : Number(value);
    },
    async stop() {
      await end(server);
      await rm(directory, { recursive: true, force: true });
    },
  };
  let failure: Error | undefined;
  server.once('error', (error) => (failure = error));
  try {
    await eventually('Prometheus is ready', async () => {
      if (failure) throw failure;
      if (server.exitCode !== null) throw new Error(`prometheus ended with exit code ${String(server.exitCode)}`);
      return (await fetch(`http://${address}/-/ready`).catch(() => undefined))?.ok ?? false;
    });
  } catch (error) {
    await prometheus.stop();
    throw error;
  }
  return prometheus;
}

/** Lets `promtool` check a text; resolves with what it complains of, which is nothing where all is well. */
export async function promtoolCheck(what: 'metrics' | 'config', subject: string): Promise<string> {
  return promtool(['check', what, ...(what === 'config' ? [subject] : [])], what === 'metrics' ? subject : '');
}

/** Runs `promtool`; resolves with what it prints, and with its exit code where that is not 0. */
export async function promtool(args: readonly string[], input = ''): Promise<string> {
  const child = spawn('promtool', args);
  const closed = once(child, 'close') as Promise<[number | null]>;
  // It may end before it has read.
  child.stdin.on('error', () => undefined).end(input);
  const [out, complaints, [code]] = await Promise.all([text(child.stdout), text(child.stderr), closed]);
  if (code === 0) return complaints;
  return `${out}${complaints}exit code ${String(code)}`;
}

async function end(server: ChildProcess): Promise<void> {
  if (server.pid === undefined || server.exitCode !== null || server.signalCode !== null) return;
  const exited = once(server, 'exit');
  server.kill('SIGKILL');
  await exited;
}
