import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, realpath } from 'node:fs/promises';
import { basename, dirname, join, posix, sep } from 'node:path';
import { workspacePath } from '@suzumio/shared/protocol/workspace-manifest';
import { messageOf } from '../turn-failure.js';

/** A path that does not name a regular file inside the workspace. */
export class WorkspacePathError extends Error {
  override readonly name = 'WorkspacePathError';
}

/** Opens a regular file of the workspace for reading. Links are not followed. */
export async function openForReading(workspace: string, path: unknown): Promise<FileHandle> {
  return openInside(workspace, path, constants.O_RDONLY, async (directory) => realpath(directory));
}

/** Opens a regular file of the workspace for writing from its start, and makes the directories that it lies in. */
export async function openForWriting(workspace: string, path: unknown): Promise<FileHandle> {
  return openInside(workspace, path, constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC, async (directory) => {
    await mkdir(directory).catch((error: unknown) => {
      if (!isCode(error, 'EEXIST')) throw error;
    });
    return realpath(directory);
  });
}

/**
 * Goes down one directory at a time, each as `enter` finds it, and looks after each step whether that is still inside.
 * `O_NONBLOCK` keeps a FIFO from blocking us, `O_NOFOLLOW` a link from leading us away.
 */
async function openInside(
  workspace: string,
  path: unknown,
  flags: number,
  enter: (directory: string) => Promise<string>,
): Promise<FileHandle> {
  const refuse = (reason: string): WorkspacePathError => new WorkspacePathError(`${JSON.stringify(path)}: ${reason}`);
  const checked = workspacePath.safeParse(typeof path === 'string' ? relative(workspace, path) : path);
  if (!checked.success) throw refuse('is not a path inside the workspace');
  let file: FileHandle;
  try {
    const root = await realpath(workspace);
    let directory = root;
    for (const part of dirname(checked.data).split('/')) {
      directory = part === '.' ? directory : await enter(join(directory, part));
      if (directory !== root && !directory.startsWith(root + sep)) throw refuse('leads out of the workspace');
    }
    file = await open(
      join(directory, basename(checked.data)),
      flags | constants.O_NOFOLLOW | constants.O_NONBLOCK,
      0o644,
    );
  } catch (error) {
    if (error instanceof WorkspacePathError) throw error;
    throw refuse(isCode(error, 'ELOOP') ? 'is a link' : messageOf(error));
  }
  if ((await file.stat()).isFile()) return file;
  await file.close();
  throw refuse('is not a regular file');
}

/** A path as people and models write it, `./notes.md` or `/workspace/notes.md`, in its plain form. */
function relative(workspace: string, path: string): string {
  return posix.normalize(path.startsWith(`${workspace}/`) ? path.slice(workspace.length + 1) : path);
}

function isCode(error: unknown, code: string): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === code;
}
