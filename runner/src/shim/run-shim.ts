import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { doorSocket, stdioDoorUrl, unixDoorPrefix } from '@suzumio/protocol/door';
import { connectorTo } from '../door/connector.js';
import { defaultPatienceMs, DoorClient } from '../door/door-client.js';
import { readTurnInput } from '../turn-files.js';
import { exitCodes, TurnFailure } from '../turn-failure.js';
import { createDoorListener } from './door-listener.js';
import { runChild } from './run-child.js';
import { ToolRoute } from './tool-route.js';

/** What the shim takes from its process. */
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
  // The worker serves the socket before it starts the container, or there is none.
  const connector = connectorTo(existsSync(socket) ? unixDoorPrefix + socket : stdioDoorUrl, self);
  const client = new DoorClient(connector, { patienceMs: input.limits?.doorPatienceMs ?? defaultPatienceMs, log });
  const tools = new ToolRoute(client, input.workspace);
  const server = createDoorListener(connector, tools);
  const { hostname, port } = loopback(input.controllerUrl);
  server.listen(port, hostname);
  await once(server, 'listening');
  const code = await runChild(self, program, args);
  // A command that fails for want of a door is not to blame.
  return code !== exitCodes.done && tools.doorWasAway ? exitCodes.doorAway : code;
}

/** Where the runner will look for its controller: only this container may reach it. */
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
