import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { isSuzumioError, messageOf } from '@suzumio/contract/errors/suzumio-error';
import { nearestExisting } from '@suzumio/runtime/disk/files';
import { networkFileSystemOf, type StatFs } from '@suzumio/store/cell/data-directory';
import { readStatus } from '@suzumio/store/projects/read-project';
import { ReadOnlyCell } from '@suzumio/store/cell/read-only-cell';
import { count } from '../render/format.js';
import { broken, type Finding, ok } from './check.js';

const elsewhere = 'or set SUZUMIO_ROOT to another directory';

/** Whether the data directory is there or can be made, is this person's own, and can be read and written. */
export function checkDataDirectory(root: string): Finding {
  try {
    if (!existsSync(root)) return checkNewDirectory(root);
    const { uid, mode } = statSync(root);
    if (!statSync(root).isDirectory())
      return broken('data', `${root} is not a directory`, `move it away, ${elsewhere}`);
    const mine = process.getuid?.() ?? uid;
    if (uid !== mine && mine !== 0) {
      return broken(
        'data',
        `${root} belongs to user ${uid}, and you are user ${mine}`,
        `chown -R ${mine} ${root}, ${elsewhere}`,
      );
    }
    if ((mode & 0o022) !== 0) {
      return broken('data', `others may write to ${root} (mode ${octal(mode)})`, `chmod go-w ${root}`);
    }
    const missing = missingAccess(root);
    if (missing !== undefined)
      return broken(
        'data',
        `${root} cannot be ${missing} by you (mode ${octal(mode)})`,
        `chmod u+rwx ${root}, ${elsewhere}`,
      );
    return checkProjects(root);
  } catch (error) {
    return broken('data', `${root}: ${messageOf(error)}`, `see what is wrong with it, ${elsewhere}`);
  }
}

/** Whether every project can be opened; verify looks into them. */
function checkProjects(root: string): Finding {
  const cell = new ReadOnlyCell(root);
  const projects = cell.projects();
  const unusable: string[] = [];
  for (const project of projects) {
    try {
      cell.read(project, readStatus);
    } catch (error) {
      unusable.push(`${project}: ${isSuzumioError(error) ? `${error.code}: ` : ''}${messageOf(error)}`);
    }
  }
  if (unusable.length === 0) return ok('data', `${root}, ${count(projects.length, 'project')}`);
  return broken('data', unusable.join(' '), 'mend what is said there; suzumio verify looks into all that is stored');
}

function checkNewDirectory(root: string): Finding {
  const above = nearestExisting(root);
  if (statSync(above).isDirectory() && missingAccess(above) === undefined) {
    return ok('data', `${root} will be made by the first init, up or serve`);
  }
  return broken(
    'data',
    `${root} cannot be made: you may not write to ${above}`,
    `make it yours and writable, ${elsewhere}`,
  );
}

/** SQLite's locks and memory maps need a local disk. */
export function checkFileSystem(root: string, statfs?: StatFs): Finding {
  const network = networkFileSystemOf(nearestExisting(root), statfs);
  if (network === undefined) return ok('fs', 'a local file system');
  return broken(
    'fs',
    `${root} is on a network file system (${network}), where SQLite can lose data`,
    'set SUZUMIO_ROOT to a directory on a local disk',
  );
}

function missingAccess(path: string): string | undefined {
  for (const [flag, word] of [
    [constants.R_OK | constants.X_OK, 'read'],
    [constants.W_OK, 'written to'],
  ] as const) {
    try {
      accessSync(path, flag);
    } catch {
      return word;
    }
  }
  return undefined;
}

function octal(mode: number): string {
  return (mode & 0o777).toString(8).padStart(4, '0');
}
