import { constants, type Stats } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, realpath } from 'node:fs/promises';
import { basename, dirname, join, posix, sep } from 'node:path';
import { workspacePath } from '@suzumio/protocol/workspace-manifest';
import { messageOf } from '../turn-failure.js';

/** A path does not name the expected kind of file inside the workspace. */
export class WorkspacePathError extends Error {
  override readonly name = 'WorkspacePathError';
}

/** Opens a regular file of the workspace for reading. Links are not followed. */
export async function openForReading(workspace: string, path: unknown): Promise<FileHandle> {
  return openFile(await placeOf(workspace, path, asItIs), constants.O_RDONLY);
}

/** Opens a regular file of the workspace for writing from its start, and makes the directories that it lies in. */
export async function openForWriting(workspace: string, path: unknown): Promise<FileHandle> {
  return openFile(await placeOf(workspace, path, made), constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC);
}

/** The real path of a directory of the workspace; undefined where the path names something else, or nothing. */
export async function findDirectory(workspace: string, path: unknown): Promise<string | undefined> {
  const place = await placeOf(workspace, path, asItIs);
  return (await factsOf(place.file))?.isDirectory() === true ? place.file : undefined;
}

/** Makes a directory of the workspace, and those that it lies in, where they are not there yet. */
export async function makeDirectory(workspace: string, path: unknown): Promise<void> {
  const place = await placeOf(workspace, path, made);
  await explained(place.path, () => made(place.file));
  const facts = await factsOf(place.file);
  if (facts?.isDirectory() !== true) throw refusal(path, facts?.isSymbolicLink() ? 'is a link' : 'is not a directory');
}

/** The location of an existing or new entry: in a directory inside the workspace. */
interface Place {
  readonly path: unknown;
  readonly file: string;
}

/** Descends one directory at a time, as `enter` resolves it, and checks after each step that it is still inside. */
async function placeOf(
  workspace: string,
  path: unknown,
  enter: (directory: string) => Promise<string>,
): Promise<Place> {
  const checked = workspacePath.safeParse(typeof path === 'string' ? relative(workspace, path) : path);
  if (!checked.success) throw refusal(path, 'is not a path inside the workspace');
  return explained(path, async () => {
    const root = await realpath(workspace);
    let directory = root;
    for (const part of dirname(checked.data).split('/')) {
      directory = part === '.' ? directory : await enter(join(directory, part));
      if (directory !== root && !directory.startsWith(root + sep)) throw refusal(path, 'leads out of the workspace');
    }
    return { path, file: join(directory, basename(checked.data)) };
  });
}

/** `O_NONBLOCK` keeps a FIFO from blocking us, `O_NOFOLLOW` a link from leading us away. */
async function openFile({ path, file }: Place, flags: number): Promise<FileHandle> {
  const opened = await explained(path, () => open(file, flags | constants.O_NOFOLLOW | constants.O_NONBLOCK, 0o644));
  if ((await opened.stat()).isFile()) return opened;
  await opened.close();
  throw refusal(path, 'is not a regular file');
}

const asItIs = (directory: string): Promise<string> => realpath(directory);

async function made(directory: string): Promise<string> {
  await mkdir(directory).catch((error: unknown) => {
    if (!isCode(error, 'EEXIST')) throw error;
  });
  return realpath(directory);
}

async function factsOf(file: string): Promise<Stats | undefined> {
  return lstat(file).catch(() => undefined);
}

async function explained<Result>(path: unknown, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof WorkspacePathError) throw error;
    throw refusal(path, isCode(error, 'ELOOP') ? 'is a link' : messageOf(error));
  }
}

function refusal(path: unknown, reason: string): WorkspacePathError {
  return new WorkspacePathError(`${JSON.stringify(path)}: ${reason}`);
}

/** A path as people and models write it, such as `./notes.md` or `/workspace/notes.md`, in its relative form. */
function relative(workspace: string, path: string): string {
  return posix
    .normalize(path.startsWith(`${workspace}/`) ? path.slice(workspace.length + 1) : path)
    .replace(/(?<=.)\/$/, '');
}

function isCode(error: unknown, code: string): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === code;
}
