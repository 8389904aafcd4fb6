import type { ToolDefinition } from '@suzumio/protocol/runner';
import type { PortRange } from '../config.js';
import { Door, type DoorOptions } from '../door/door.js';
import { withPublishedFile } from '../door/published-file.js';
import type { OpenDoor, PreparedSandbox } from '../engine/turn-engine.js';
import type { AttemptClient } from '../toolhost/toolhost-client.js';

export interface OpenDoorOptions extends DoorOptions {
  /** The path of a door of the kind `socket`. */
  socket: string;
  relayPorts: PortRange | undefined;
  /** The workspace on this host. */
  workspace: string;
  tools: readonly ToolDefinition[];
  client: AttemptClient;
}

/** Opens the door that a sandbox expects. */
export async function openDoor(
  sandbox: Pick<PreparedSandbox, 'door' | 'workspaceSeen'>,
  options: OpenDoorOptions,
): Promise<{ door: Door; at: OpenDoor }> {
  const { socket, relayPorts, workspace, tools, client } = options;
  const place = sandbox.door;
  const publishing = { workspace, workspaceSeen: sandbox.workspaceSeen(workspace), tools, client };
  const publishes = place.kind === 'relay' && place.publishes;
  const door = new Door({
    ...options,
    ...(publishes ? { complete: (call: Buffer) => withPublishedFile(call, publishing) } : {}),
  });
  try {
    if (place.kind === 'socket') await door.listen(socket);
    if (place.kind !== 'relay') return { door, at: { socket } };
    return { door, at: { socket, port: await door.listenOn(place.address, relayPorts) } };
  } catch (error) {
    await door.close();
    throw error;
  }
}
