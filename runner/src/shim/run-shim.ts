import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { doorSocket, stdioDoorUrl, unixDoorPrefix } from '@suzumio/protocol/door';
import { connectorTo } from '../door/connector.js';
import { defaultPatienceMs, DoorClient } from '../door/door-client.js';
import { readTurnInput } from '../turn-files.js';
import { exitCodes, messageOf, TurnFailure } from '../turn-failure.js';
import { createDoorListener } from './door-listener.js';
import { ToolRoute } from './tool-route.js';
import { ownArtifactsOf } from '../tools/publish-file.js';

/** What the shim uses of its process. */
export interface ShimHost {
  readonly turnDir: string;
  /** The image's own entrypoint and command. */
  readonly command: readonly string[];
  readonly self: NodeJS.Process;
  readonly log: (line: string) => void;
}

/** Serves the door at the input's `controllerUrl` while the image's own command runs; returns the exit code. */
export async function runShim({ turnDir, command, self, log }: ShimHost): Promise<number> {
  const [program, ...args] = command;
  if (program === undefined) throw new TurnFailure('no command: expected the entrypoint of the image', exitCodes.usage);
  const input = await readTurnInput(turnDir);
  const socket = join(turnDir, doorSocket);
  // The worker listens on the socket before it starts the container, if there is one.
  const connector = connectorTo(existsSync(socket) ? unixDoorPrefix + socket : stdioDoorUrl, self);
  const client = new DoorClient(connector, { patienceMs: input.limits?.doorPatienceMs ?? defaultPatienceMs, log });
  const tools = new ToolRoute(client, {
    workspace: input.workspace,
    tools: input.tools,
    own: ownArtifactsOf(input),
    repository: input.repository,
  });
  const server = createDoorListener(connector, tools);
  const { hostname, port } = loopback(input.controllerUrl);
  server.listen(port, hostname);
  await once(server, 'listening');
  const code = await runChild(self, program, args);
  // A command that fails because the door is unavailable is not to blame.
  return code !== exitCodes.done && tools.doorWasAway ? exitCodes.doorAway : code;
}

/** The address for the runner, reachable from this container only. */
function loopback(controllerUrl: string): { hostname: string; port: number } {
  const url = URL.parse(controllerUrl);
  if (url?.protocol === 'http:' && url.hostname === '127.0.0.1' && url.port !== '') {
    return { hostname: url.hostname, port: Number(url.port) };
  }
  throw new TurnFailure(
    `controllerUrl "${controllerUrl}" is no address that the shim can serve: expected http://127.0.0.1:<port>`,
    exitCodes.inputInvalid,
  );
}

const forwarded = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'] as const;

/**
 * Runs the image's own command and returns the exit code to leave with: the child's own, or 128 and its signal's number.
 * The child's stdout goes to stderr, for ours may be the door, and signals to this process go on to the child.
 */
function runChild(self: NodeJS.Process, command: string, args: readonly string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    // Registered before the child starts: an early signal must not end this process alone.
    for (const signal of forwarded) self.on(signal, () => child.kill(signal));
    const child = spawn(command, args, { stdio: ['ignore', 2, 2] });
    child.on('error', (error) => {
      // As in a shell: 127 where there is no such command, 126 where it cannot be run.
      const code = 'code' in error && error.code === 'ENOENT' ? 127 : 126;
      reject(new TurnFailure(`the image's command ${command} could not be started: ${messageOf(error)}`, code));
    });
    child.on('exit', (code, signal) => resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal])));
  });
}
