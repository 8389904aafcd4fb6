import { Door, type DoorOptions, type PortRange } from '../door/door.js';
import { withPublishedFile } from '../door/published-file.js';
import type { OpenDoor, PreparedSandbox } from '../engine/turn-engine.js';
import type { AttemptClient } from '../toolhost/toolhost-client.js';
import { AttemptFailure } from './attempt-failure.js';

export interface OpenDoorOptions extends DoorOptions {
  /** Where a door of this kind listens. */
  socket: string;
  relayPorts: PortRange | undefined;
  /** The workspace on this host. */
  workspace: string;
  client: AttemptClient;
}

/**
 * Opens the door that a sandbox is made for.
 *
 * @throws AttemptFailure when a relay cannot listen where it should
 */
export async function openDoor(
  sandbox: Pick<PreparedSandbox, 'door' | 'workspaceSeen'>,
  options: OpenDoorOptions,
): Promise<{ door: Door; at: OpenDoor }> {
  const { socket, relayPorts, workspace, client } = options;
  const place = sandbox.door;
  if (place.kind !== 'relay') {
    const door = new Door(options);
    if (place.kind === 'socket') await door.listen(socket);
    return { door, at: { socket } };
  }
  const publishing = { workspace, workspaceSeen: sandbox.workspaceSeen(workspace), client };
  const complete = (call: Buffer) => withPublishedFile(call, publishing);
  const door = new Door({ ...options, complete: place.publishes ? complete : undefined });
  try {
    return { door, at: { socket, port: await door.listenOn(place.address, relayPorts) } };
  } catch (error) {
    throw new AttemptFailure('container-start-failed', `No relay could be opened at ${place.address}.`, {
      cause: error,
    });
  }
}
