import { randomBytes } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import type { Place } from './roots.js';
import { explained, SandboxRefusal } from './refusal.js';

const { O_CREAT, O_EXCL, O_WRONLY } = constants;

/** What is to become of a file. */
export interface Change {
  readonly place: Place;
  /** Its new content; undefined deletes it. */
  readonly content: Buffer | undefined;
  /** Whether it is to be a program; by default it stays what it is. */
  readonly executable?: boolean | undefined;
}

/** A change whose new content and whose way back lie beside the file, under other names. */
interface Staged extends Change {
  readonly next: string | undefined;
  readonly before: string | undefined;
  /** The file's, with its second name. */
  readonly facts: Stats | undefined;
}

/**
 * Makes all of some changes, or none. New content is written beside its file first, then takes the file's name; what is
 * there keeps a second name until all are done. Nobody sees a file that is half written.
 *
 * @throws SandboxRefusal `file-changed` where a file is not what it was when its place was found
 */
export async function makeChanges(changes: readonly Change[]): Promise<void> {
  const staged: Staged[] = [];
  const done: Staged[] = [];
  try {
    for (const change of changes) staged.push(await stage(change, changes.length > 1));
    for (const change of staged) {
      await refuseIfChanged(change.place, change.facts);
      await commit(change);
      done.push(change);
    }
  } catch (error) {
    for (const change of done.reverse()) await undo(change);
    throw error;
  } finally {
    for (const { place, next, before } of staged) {
      for (const name of [next, before])
        if (name !== undefined) await place.directory.remove(name).catch(() => undefined);
    }
  }
}

async function stage(change: Change, mayBeUndone: boolean): Promise<Staged> {
  const { place, content } = change;
  const { directory, name, facts } = place;
  const isThere = facts !== undefined;
  let next: string | undefined;
  try {
    if (content !== undefined) {
      next = freeName();
      await writeNew(change, next, content);
    }
    let before: string | undefined;
    let now = facts;
    if (isThere && mayBeUndone) {
      await refuseIfChanged(place, facts);
      before = freeName();
      await directory.link(name, before);
      // The second name changes the time of change.
      now = await directory.facts(before);
    }
    return { ...change, next, before, facts: now };
  } catch (error) {
    if (next !== undefined) await directory.remove(next).catch(() => undefined);
    throw explained(place.asked, error);
  }
}

async function writeNew({ place, executable }: Change, name: string, content: Buffer): Promise<void> {
  const file = await place.directory.openFile(name, O_WRONLY | O_CREAT | O_EXCL, 0o666);
  try {
    await file.writeFile(content);
    const { mode } = place.facts ?? (await file.stat());
    const wanted = executable === undefined ? mode : executable ? mode | ((mode & 0o444) >> 2) : mode & ~0o111;
    if (place.facts !== undefined || executable !== undefined) await file.chmod(wanted & 0o7777);
  } finally {
    await file.close();
  }
}

async function commit({ place: { asked, directory, name }, next }: Staged): Promise<void> {
  try {
    if (next === undefined) await directory.remove(name);
    else await directory.rename(next, name);
  } catch (error) {
    throw explained(asked, error);
  }
}

async function undo({ place: { directory, name }, before }: Staged): Promise<void> {
  if (before === undefined) await directory.remove(name);
  else await directory.rename(before, name);
}

async function refuseIfChanged({ asked, directory, name }: Place, facts: Stats | undefined): Promise<void> {
  const now = await directory.facts(name);
  if (sameFile(facts, now)) return;
  throw new SandboxRefusal(
    'file-changed',
    `${JSON.stringify(asked)} was changed meanwhile by another program: read it again.`,
  );
}

function sameFile(a: Stats | undefined, b: Stats | undefined): boolean {
  // A program can set the time of modification of a file, but not its time of change.
  return a?.ino === b?.ino && a?.dev === b?.dev && a?.size === b?.size && a?.ctimeMs === b?.ctimeMs;
}

const freeName = (): string => `.suzumio-${randomBytes(8).toString('hex')}.tmp`;
