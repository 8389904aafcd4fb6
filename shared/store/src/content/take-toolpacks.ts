import { constants, existsSync } from 'node:fs';
import { type FileHandle, lstat, open, readdir, readlink, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { ProjectConfig } from '@suzumio/contract/model/project-config';
import { beginningOf } from '@suzumio/protocol/cut-text';
import { allowsTool, toolsOfPacks } from '@suzumio/protocol/tool-names';
import { maxToolpackBytes, maxToolpackFiles, toolpackContent } from '@suzumio/protocol/toolpacks/files';
import { nameFault, readManifest, toolpackFileName, toolpackPath } from '@suzumio/protocol/toolpacks/manifest';
import { hashOf } from './content-store.js';

type Toolpack = ProjectConfig['tools']['toolpacks'][number];
type LocalToolpack = Extract<Toolpack, { path: string }>;

/** Where the files of toolpacks are put, each toolpack's as one content. */
export interface ToolpackTarget {
  /** @returns the hash of the bytes */
  readonly putBytes: (bytes: Uint8Array) => Promise<string>;
}

/** Whether what is open has a path by its descriptor. Not on macOS. */
const hasDescriptorPaths = existsSync('/proc/self/fd');
const directoryFlags = constants.O_RDONLY | constants.O_DIRECTORY;
/** Without O_NONBLOCK, opening a pipe would wait for a writer. */
const fileFlags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * Stores the files of a project's local toolpacks as its content: they are the same in every turn, whatever becomes of their
 * directories. Those that were taken before are left as they are.
 *
 * @param mayLoad whether a toolpack may be loaded from a directory, by its path when it is opened
 * @returns the project's config with what its toolpacks are
 * @throws SuzumioError `invalid-config` when one cannot be read, is none or is too large; `policy-denied` when it may not be
 *   loaded
 */
export async function takeToolpacks(
  content: ToolpackTarget,
  config: ProjectConfig,
  mayLoad: (directory: string) => boolean,
): Promise<ProjectConfig> {
  const toolpacks: Toolpack[] = [];
  for (const pack of config.tools.toolpacks) {
    toolpacks.push(isUntaken(pack) ? await taken(content, pack, mayLoad) : pack);
  }
  const completed = { ...config, tools: { toolpacks } };
  requireDistinct(completed);
  return completed;
}

/** Toolpacks as their directories have them now. */
export interface ReadToolpacks {
  readonly config: ProjectConfig;
  /** What is to be stored. */
  readonly contents: readonly Uint8Array[];
  /** The toolpacks that stay as they are, each with why, in a sentence. */
  readonly kept: readonly string[];
}

/**
 * Reads the local toolpacks of a new version of a project's file, and stores nothing. One that the version in force has from
 * the same path stays as it is where its directory is gone, or may not be loaded from any more.
 *
 * @throws SuzumioError as {@link takeToolpacks}
 */
export async function readToolpacksAnew(
  current: ProjectConfig,
  next: ProjectConfig,
  mayLoad: (directory: string) => boolean,
): Promise<ReadToolpacks> {
  const contents = new Map<string, Uint8Array>();
  const kept: string[] = [];
  const target: ToolpackTarget = {
    putBytes: (bytes) => {
      const hash = hashOf(bytes);
      contents.set(hash, bytes);
      return Promise.resolve(hash);
    },
  };
  const toolpacks: Toolpack[] = [];
  for (const pack of next.tools.toolpacks) {
    const had = isUntaken(pack) ? current.tools.toolpacks.find((one) => isTakenAs(one, pack)) : undefined;
    if (had === undefined || !isUntaken(pack)) {
      toolpacks.push(pack);
      continue;
    }
    toolpacks.push(
      await taken(target, pack, mayLoad).catch((error: unknown) => {
        if (!(error instanceof CannotBeRead)) throw error;
        kept.push(`the toolpack ${pack.id} stays as the project has it: ${error.message}`);
        return had;
      }),
    );
  }
  const config = await takeToolpacks(target, { ...next, tools: { toolpacks } }, mayLoad);
  return { config, contents: [...contents.values()], kept };
}

function isUntaken(pack: Toolpack): pack is LocalToolpack {
  return typeof pack === 'object' && 'path' in pack && pack.taken === undefined;
}

function isTakenAs(pack: Toolpack, { id, path }: LocalToolpack): boolean {
  return typeof pack === 'object' && 'path' in pack && pack.taken !== undefined && pack.id === id && pack.path === path;
}

/** A toolpack's directory is gone, or nothing may be loaded from it. */
class CannotBeRead extends SuzumioError {}

/** Why a project's local toolpacks cannot be taken, in a sentence; undefined where they can. */
export async function toolpackFault(
  config: ProjectConfig,
  mayLoad: (directory: string) => boolean,
): Promise<string | undefined> {
  try {
    await takeToolpacks({ putBytes: () => Promise.resolve('') }, config, mayLoad);
    return undefined;
  } catch (error) {
    if (error instanceof SuzumioError) return error.message;
    throw error;
  }
}

async function taken(
  content: ToolpackTarget,
  { id, path }: LocalToolpack,
  mayLoad: (directory: string) => boolean,
): Promise<Toolpack> {
  const { directory, files } = await filesIn(path, mayLoad);
  const manifest = files.get(toolpackFileName);
  if (manifest === undefined) throw invalid(path, `has no ${toolpackFileName}`);
  const read = readManifest(manifest.toString('utf8'), (name) => files.has(name));
  if ('fault' in read) throw invalid(path, `is none: ${read.fault}`);
  if (read.id !== id) throw invalid(path, `calls itself ${read.id}, and its project file ${id}: write id: ${read.id}`);
  const { tools, runner, controller } = read;
  return {
    id,
    path,
    taken: {
      directory,
      sha256: await content.putBytes(toolpackContent(files)),
      files: [...files]
        .map(([name, bytes]) => ({ path: name, sizeBytes: bytes.length, sha256: hashOf(bytes) }))
        .sort((one, other) => (one.path < other.path ? -1 : 1)),
      ...(runner === undefined ? {} : { runner }),
      ...(controller === undefined ? {} : { controller }),
      tools,
    },
  };
}

/** Names in allowlists that only a toolpack's own manifest can explain are checked once that was read. */
function requireDistinct({ agents, tools }: ProjectConfig): void {
  const ids = tools.toolpacks.flatMap((pack) => (typeof pack === 'string' ? [] : pack.id.toLowerCase()));
  const twice = ids.find((id, index) => ids.indexOf(id) !== index);
  if (twice !== undefined)
    throw new SuzumioError('invalid-config', `tools.toolpacks: there are two toolpacks ${twice}.`);
  const local = tools.toolpacks.flatMap((pack) =>
    typeof pack === 'object' && 'path' in pack ? (pack.taken?.tools ?? []).map(({ name }) => name) : [],
  );
  if (local.length === 0) return;
  const fault = nameFault(local);
  if (fault !== undefined) throw new SuzumioError('invalid-config', `tools.toolpacks: ${fault}.`);
  const known = [...toolsOfPacks(tools.toolpacks), ...local];
  for (const [agent, { tools: allowed }] of Object.entries(agents)) {
    const unknown = allowed.find((pattern) => !known.some((tool) => allowsTool([pattern], tool)));
    if (unknown === undefined) continue;
    const message = `agents.${agent}.tools: there is no tool ${unknown}; those of the project's own toolpacks are ${local.join(', ')}.`;
    throw new SuzumioError('invalid-config', message, { agent, tool: unknown });
  }
}

/** A toolpack's files. Links are refused, and what begins with a dot is left out. */
async function filesIn(
  path: string,
  mayLoad: (directory: string) => boolean,
): Promise<{ directory: string; files: Map<string, Buffer> }> {
  const files = new Map<string, Buffer>();
  const room = { bytes: maxToolpackBytes };
  let directory = path;
  const readAt = async (at: string, name: string, flags: number): Promise<void> => {
    const opened = await open(at, directoryFlags | flags);
    try {
      const place = hasDescriptorPaths ? `/proc/self/fd/${String(opened.fd)}` : at;
      if (name === '') {
        directory = await (hasDescriptorPaths ? readlink(place) : realpath(place));
        if (!mayLoad(directory)) throw leadsElsewhere(path);
      }
      for (const entry of await readdir(place)) if (!entry.startsWith('.')) await readEntry(place, name, entry);
    } finally {
      await opened.close();
    }
  };
  const readEntry = async (place: string, name: string, entry: string): Promise<void> => {
    const below = name === '' ? entry : `${name}/${entry}`;
    if (!toolpackPath.safeParse(below).success) {
      const what = `has ${JSON.stringify(beginningOf(below, 80))}`;
      throw invalid(
        path,
        `${what}: expected paths of at most 400 characters, no control characters and no backslashes`,
      );
    }
    const at = join(place, entry);
    const facts = await lstat(at);
    if (facts.isDirectory()) return readAt(at, below, constants.O_NOFOLLOW);
    if (facts.isSymbolicLink()) {
      throw invalid(path, `has ${below}, which is a link: put a copy of what it leads to in its place`);
    }
    if (!facts.isFile()) throw invalid(path, `has ${below}, which is neither a file nor a directory: take it away`);
    const file = await open(at, fileFlags);
    try {
      files.set(below, await readWithin(file, room));
    } finally {
      await file.close();
    }
    if (room.bytes < 0 || files.size > maxToolpackFiles) throw tooLarge(path);
  };
  try {
    await readAt(path, '', 0);
  } catch (error) {
    if (error instanceof SuzumioError) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    const missing = code === 'ENOENT' || code === 'ENOTDIR';
    if (!missing) throw invalid(path, `cannot be read: ${message}`, error);
    throw new CannotBeRead(
      'invalid-config',
      `The toolpack ${path} is no directory: name one that is there.`,
      { directory: path },
      { cause: error },
    );
  }
  return { directory, files };
}

/** A file's bytes, or some more than there is room for. */
async function readWithin(file: FileHandle, room: { bytes: number }): Promise<Buffer> {
  const bytes = Buffer.alloc(Math.min((await file.stat()).size, room.bytes + 1));
  const { bytesRead } = await file.read(bytes, 0, bytes.length, 0);
  room.bytes -= bytesRead;
  return bytes.subarray(0, bytesRead);
}

function invalid(directory: string, what: string, cause?: unknown): SuzumioError {
  return new SuzumioError('invalid-config', `The toolpack ${directory} ${what}.`, { directory }, { cause });
}

function tooLarge(directory: string): SuzumioError {
  const bounds = `${String(maxToolpackFiles)} files and ${String(maxToolpackBytes / 1024 ** 2)} MiB`;
  return invalid(directory, `is too large: a toolpack may have ${bounds}, with what it imports`);
}

function leadsElsewhere(directory: string): SuzumioError {
  return new CannotBeRead(
    'policy-denied',
    `The toolpack ${directory} may not be loaded from where it leads: put back what stood there when it was allowed.`,
    { directory },
  );
}
