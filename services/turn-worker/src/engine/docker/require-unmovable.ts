import type Docker from 'dockerode';
import { setTimeout as sleep } from 'node:timers/promises';
import { AttemptFailure } from '../attempt-failure.js';
import type { StartOptions } from '../turn-engine.js';
import { anyTurn, mayRun } from './labels.js';
import { type MountingContainer, movableMounts } from './movable-mounts.js';

const patienceMs = 5_000;
const lookMs = 50;

/**
 * Checks for a created container that no other can replace the source of a mount before the engine has mounted it:
 * containers created later check against this one.
 *
 * @throws AttemptFailure `mount-in-use` where another can: the turn waits until that one has ended
 */
export async function requireUnmovable(
  docker: Docker,
  id: string,
  { mounts, recheckMounts }: Pick<StartOptions, 'mounts' | 'recheckMounts'>,
): Promise<void> {
  if (mounts.length === 0) return;
  const own = mounts.map(({ source, target, readonly }) => ({ source, target, writable: !readonly }));
  const giveUpAt = performance.now() + patienceMs;
  for (;;) {
    const { movable, movesOthers } = movableMounts(own, await mountingBeside(docker, id));
    if (movable !== undefined) throw failure(`${movable} lies in a directory in which another turn writes now`);
    if (!movesOthers) break;
    // The other one starts soon, or gives up because of this one.
    if (performance.now() > giveUpAt) throw failure('another turn is about to have something below it mounted');
    await sleep(lookMs);
  }
  recheckMounts();
}

/** The other turns' containers on this engine, and their mounts. */
async function mountingBeside(docker: Docker, id: string): Promise<MountingContainer[]> {
  const filters = { label: [anyTurn], status: mayRun };
  const found = await docker.listContainers({ all: true, filters });
  return found
    .filter((other) => other.Id !== id)
    .map((other) => ({
      id: other.Id,
      isStarting: other.State === 'created',
      mounts: other.Mounts.map(({ Source: source, Destination: target, RW: writable }) => ({
        source,
        target,
        writable,
      })),
    }));
}

function failure(why: string): AttemptFailure {
  return new AttemptFailure(
    'mount-in-use',
    `What is to be mounted could be moved meanwhile: ${why}. Have both mount the same directory, or directories beside each other, for them to run at the same time.`,
  );
}
