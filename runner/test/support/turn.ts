import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { RunnerTurnInput } from '@suzumio/protocol/runner';

/** A directory of its own for one test, with a turn's files and a workspace. */
export interface TurnPlace {
  readonly turnDir: string;
  readonly workspace: string;
  readonly socket: string;
  /** Writes `input.json`; without overrides the door is the socket. */
  prepare(overrides?: Record<string, unknown>): Promise<void>;
  output(): Promise<unknown>;
  /** Starts Node with `args` as a process of its own, for this turn. */
  start(...args: string[]): ChildProcessWithoutNullStreams;
  /** Kills what was started and still runs, its children included, and removes the files. */
  remove(): Promise<void>;
}

/** How a process ended. */
export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export const turn: RunnerTurnInput['turn'] = {
  id: 'turn_01KB3Z0000000000000000000A',
  prompt: '# Project newsroom\n\nOne line.',
  number: 1,
  attempt: 1,
  mail: [
    {
      id: 'msg_01KB3Z',
      sender: 'editor',
      recipient: 'reporter-1',
      priority: 'P1',
      kind: 'direct',
      threadId: 'msg_01KB3Z',
      body: 'The north gauge, please. Say "$(echo owned)" and `it`.',
      createdAt: '2026-11-21T20:14:03Z',
    },
  ],
};

export async function createTurnPlace(): Promise<TurnPlace> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'suzumio-runner-')));
  const turnDir = join(root, 'turn');
  const workspace = join(root, 'workspace');
  const socket = join(turnDir, 'door', 'door.sock');
  await mkdir(join(turnDir, 'door'), { recursive: true });
  await mkdir(workspace);
  const children: ChildProcessWithoutNullStreams[] = [];
  return {
    turnDir,
    workspace,
    socket,
    async prepare(overrides = {}) {
      const input = {
        project: 'newsroom',
        agent: { id: 'reporter-1', base: 'reporter', role: 'reporter', prompt: 'Report.', displayName: 'Akari' },
        turn,
        workspace,
        controllerUrl: `unix:${socket}`,
        token: 'tool-token',
        runner: { mode: 'mock' },
        tools: ['messages.send', 'artifacts.publish', 'artifacts.read'].map((name) => ({
          name,
          description: name,
          inputSchema: {
            properties: { path: { type: 'string' }, content: { type: 'string' }, to: { type: 'string' } },
          },
        })),
        protocol: 1,
        limits: { timeoutMs: 600_000, doorPatienceMs: 5_000 },
        ...overrides,
      };
      await writeFile(join(turnDir, 'input.json'), JSON.stringify(input));
    },
    output: async () => JSON.parse(await readFile(join(turnDir, 'output.json'), 'utf8')) as unknown,
    start(...args) {
      const { PATH, NODE_COMPILE_CACHE } = process.env;
      const env = { PATH, NODE_COMPILE_CACHE, SUZUMIO_TURN_DIR: turnDir };
      const child = spawn(process.execPath, args, { env, stdio: ['pipe', 'pipe', 'pipe'], detached: true });
      children.push(child);
      return child;
    },
    async remove() {
      for (const child of children) killGroup(child);
      await rm(root, { recursive: true, force: true });
    },
  };
}

function killGroup({ pid }: ChildProcessWithoutNullStreams): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // All of them have ended.
  }
}

/** The mock runner's part of an input: one rule for every turn of the agent. */
export function script(...steps: unknown[]): { runner: unknown } {
  return { runner: { mode: 'mock', script: [{ agent: 'reporter', steps }] } };
}

/** Waits for the end of a process. */
export async function ended(child: ChildProcessWithoutNullStreams): Promise<Ended> {
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (bytes: Buffer) => (stdout += bytes.toString()));
  child.stderr.on('data', (bytes: Buffer) => (stderr += bytes.toString()));
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
  return { code, signal, stdout, stderr };
}

export async function listen(server: Server, where: string | number): Promise<number> {
  if (typeof where === 'string') server.listen(where);
  else server.listen(where, '127.0.0.1');
  await once(server, 'listening');
  return typeof where === 'string' ? 0 : (server.address() as AddressInfo).port;
}

export async function closed(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise<void>((resolve) => server.close(() => resolve()));
}
