import { AttemptFailure } from '../attempt-failure.js';
import type { Owner } from '../../workspace/restore.js';

const unprivileged: Owner = { uid: 1000, gid: 1000 };

/**
 * The user of a container: the project file's, else that of the worker's settings, else the worker's own where that is
 * not root.
 *
 * @param users as `uid:gid`
 * @throws AttemptFailure `policy-denied` for root, and for a user that this worker cannot give files to
 */
export function sandboxOwner(users: { asked?: string | undefined; turn?: string | undefined }, own = ownIds()): Owner {
  const user = users.asked ?? users.turn;
  if (user === undefined) return own.uid === 0 ? unprivileged : own;
  const setting = users.asked === undefined ? 'SUZUMIO_TURN_USER' : 'backend.docker.user';
  const [, uid, gid] = /^(\d{1,9}):(\d{1,9})$/.exec(user) ?? [];
  const owner = { uid: Number(uid), gid: Number(gid) };
  if (!(owner.uid > 0) || !(owner.gid > 0)) {
    throw new AttemptFailure(
      'policy-denied',
      `${setting} is "${user}"; allowed is a uid:gid of numbers, neither of them 0.`,
    );
  }
  if (own.uid !== 0 && owner.uid !== own.uid) {
    throw new AttemptFailure(
      'policy-denied',
      `${setting} is "${user}"; this worker is not root and can run containers as its own uid ${own.uid} only.`,
    );
  }
  return owner;
}

function ownIds(): Owner {
  return { uid: process.getuid?.() ?? unprivileged.uid, gid: process.getgid?.() ?? unprivileged.gid };
}
