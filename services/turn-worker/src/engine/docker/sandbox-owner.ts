import { createHash } from 'node:crypto';
import { AttemptFailure } from '../attempt-failure.js';
import type { Owner } from '../../workspace/restore.js';
import type { Tenant } from '../turn-engine.js';

const unprivileged: Owner = { uid: 1000, gid: 1000 };

/** The users as settings name them. */
interface Users {
  /** The project file's, as `uid:gid`. */
  asked?: string | undefined;
  /** The worker's, as `uid:gid` or `first-last:gid`. */
  turn?: string | undefined;
}

/**
 * The user of a container: the project file's, else that of the worker's settings, else the worker's own where that is
 * not root. Of a range each project has a user of its own: the kernel counts epoll watches, inotify instances and more
 * by user, over all containers.
 *
 * @param project absent for a container that runs nothing of a project
 * @throws AttemptFailure `policy-denied` for root, and for a user that this worker cannot give files to
 */
export function sandboxOwner(users: Users, project?: Tenant, own = ownIds()): Owner {
  const user = users.asked ?? users.turn;
  if (user === undefined) return own.uid === 0 ? unprivileged : own;
  const setting = users.asked === undefined ? 'SUZUMIO_TURN_USER' : 'backend.docker.user';
  const range = users.asked === undefined ? /^(\d{1,9})(?:-(\d{1,9}))?:(\d{1,9})$/ : /^(\d{1,9})():(\d{1,9})$/;
  const [, first, last, gid] = range.exec(user) ?? [];
  const owner = { uid: userOf(project, Number(first), Number(last || first)), gid: Number(gid) };
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

/** A project's user of a range: the same on all workers, and another project's by a rare chance only. */
function userOf(project: Tenant | undefined, first: number, last: number): number {
  if (project === undefined || !(last > first)) return first;
  const hash = createHash('sha256').update(`${project.cell} ${project.project}`).digest();
  return first + (hash.readUInt32BE() % (last - first + 1));
}

function ownIds(): Owner {
  return { uid: process.getuid?.() ?? unprivileged.uid, gid: process.getgid?.() ?? unprivileged.gid };
}
