import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { maxPackBytes, maxPushedRefs, type RefUpdate } from '@suzumio/protocol/shared-repository';
import { TurnFailure } from '../turn-failure.js';
import { runGit } from '../work-tree/run-git.js';
import { packNew } from './pack-new.js';
import type { SharedDoor } from './shared-door.js';

const nothing = /^0+$/;

/**
 * Puts on record what the mirror is about to take: its objects as one pack, which needs no other, and its references. It is called by
 * the mirror's hook, so that a refusal is Git's own.
 *
 * @param received what the hook was given: lines of `old new ref`
 * @throws TurnFailure with the reason of a refusal
 */
export async function sendReceived(door: SharedDoor, received: string, env: NodeJS.ProcessEnv): Promise<void> {
  const updates = received
    .split('\n')
    .filter((line) => line !== '')
    .map((line): RefUpdate => {
      const [from = '', to = '', ref = ''] = line.split(' ');
      return { ref, from: idOf(from), to: idOf(to) };
    });
  if (updates.length > maxPushedRefs) {
    throw new TurnFailure(
      `a push moves at most ${maxPushedRefs} branches and tags, and this one moves ${updates.length}`,
    );
  }
  const file = join(door.turn.mirror, `suzumio-push-${randomBytes(6).toString('hex')}`);
  try {
    const refs = await runGit(['for-each-ref', '--format=%(objectname)'], { env });
    const known = refs.split('\n').filter((id) => id !== '');
    const pack = await packNew({ wanted: updates.flatMap(({ to }) => to ?? []), known }, file, env);
    const isEmpty = pack.objects === 0;
    if (!isEmpty) {
      if (pack.sizeBytes > maxPackBytes) {
        throw new TurnFailure(
          `a push has at most ${maxPackBytes} bytes, and this one has ${pack.sizeBytes}: push an older commit of it first`,
        );
      }
      await door.store(pack.sha256, pack.sizeBytes, file);
    }
    const key = randomBytes(12).toString('hex');
    await door.push({ key, updates, ...(isEmpty ? {} : { pack: pack.sha256 }) });
  } finally {
    await rm(file, { force: true });
  }
}

function idOf(id: string): string | null {
  return nothing.test(id) ? null : id;
}
