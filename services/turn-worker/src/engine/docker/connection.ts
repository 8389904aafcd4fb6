import type Docker from 'dockerode';
import type { ImageInspectInfo } from 'dockerode';
import type { SandboxLimits } from '@suzumio/protocol/attempts';
import { defaultTurnDir, doorSocket, shimPort, stdioDoorUrl, unixDoorPrefix } from '@suzumio/protocol/door';
import { AttemptFailure } from '../attempt-failure.js';
import type { DoorPlace, OpenDoor } from '../turn-engine.js';
import { runnerLabel } from './labels.js';
import { relayPlace } from './networks.js';

/** How a container and its worker are connected. */
export interface Connection {
  /** The container's network, and its extra host names. */
  network: { mode: string; hosts: readonly string[] };
  door: DoorPlace;
  controllerUrl(door: OpenDoor): string;
  /** The shim in front of the image's own command. */
  entrypoint?: readonly string[];
}

export interface ConnectionOptions {
  docker: Docker;
  image: ImageInspectInfo;
  limits: Pick<SandboxLimits, 'image' | 'network' | 'controllerUrl'>;
  /** How sealed containers reach the worker. */
  door: 'socket' | 'stdio';
  relayHost: string | undefined;
}

export const shimPath = '/turn-shim/shim.mjs';
const hostName = 'host.docker.internal';

/** @throws AttemptFailure when the network cannot be used, or the image says nothing to run */
export async function connectionOf(options: ConnectionOptions): Promise<Connection> {
  const { docker, limits, relayHost } = options;
  const { network, controllerUrl } = limits;
  if (network === 'none') return sealed(options);
  const place = await relayPlace(docker, network, relayHost);
  return {
    network: { mode: network, hosts: [`${hostName}:${place.host}`] },
    door:
      controllerUrl === undefined
        ? { kind: 'relay', address: place.address, publishes: isForeign(options.image) }
        : { kind: 'elsewhere' },
    controllerUrl: ({ port }) => controllerUrl ?? `http://${hostName}:${String(port)}`,
  };
}

function sealed({ image, limits, door }: ConnectionOptions): Connection {
  const network = { mode: 'none', hosts: [] };
  const place: DoorPlace = { kind: door === 'stdio' ? 'connections' : 'socket' };
  if (isForeign(image)) {
    const entrypoint = ['node', shimPath, ...commandOf(image, limits.image)];
    return { network, door: place, controllerUrl: () => `http://127.0.0.1:${shimPort}`, entrypoint };
  }
  const url = door === 'stdio' ? stdioDoorUrl : `${unixDoorPrefix}${defaultTurnDir}/${doorSocket}`;
  return { network, door: place, controllerUrl: () => url };
}

/** Whether an image has a foreign runner, which can use HTTP alone. */
function isForeign(image: ImageInspectInfo): boolean {
  return (image.Config.Labels as Record<string, string> | null)?.[runnerLabel] !== '1';
}

function commandOf(image: ImageInspectInfo, name: string): string[] {
  const { Entrypoint: entrypoint, Cmd: cmd } = image.Config as { Entrypoint?: string[] | null; Cmd?: string[] | null };
  const command = [...(entrypoint ?? []), ...(cmd ?? [])];
  if (command.length > 0) return command;
  throw new AttemptFailure(
    'container-start-failed',
    `The image ${name} says neither an entrypoint nor a command to run.`,
  );
}
