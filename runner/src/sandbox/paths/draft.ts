import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { sized } from '@suzumio/protocol/sized';
import { binaryKind, sampleBytes } from '../text/file-kind.js';
import { type Change, makeChanges } from './change-set.js';
import { explained, SandboxRefusal } from './refusal.js';
import { missing, openedFile, type Place, refuseUnlessFile, type Roots, type Way } from './roots.js';

interface Entry {
  readonly place: Place;
  /** As it was read. */
  readonly text?: string | undefined;
  /** As it is to be; undefined where it is to be no more. */
  next?: Buffer | undefined;
  executable?: boolean | undefined;
  isChanged: boolean;
}

/** Files as they are to be, until all of it is {@link Draft.save}d at once. Later edits see what earlier ones have drafted. */
export class Draft {
  readonly #entries = new Map<string, Entry>();
  readonly #made: string[] = [];

  private constructor(
    private readonly roots: Roots,
    private readonly maxFileBytes: number,
    private readonly foreign: boolean,
  ) {}

  /**
   * Drafts with `edit` and saves. Where either fails, nothing has changed.
   *
   * @param options.foreign see {@link Way}
   */
  static async of<Result>(
    roots: Roots,
    { maxFileBytes, foreign }: { maxFileBytes: number; foreign: boolean },
    edit: (draft: Draft) => Promise<Result>,
  ): Promise<Result> {
    const draft = new Draft(roots, maxFileBytes, foreign);
    try {
      const result = await edit(draft);
      await draft.#save();
      return result;
    } catch (error) {
      await roots.unmake(draft.#made);
      throw error;
    } finally {
      await Promise.all([...draft.#entries.values()].map(({ place }) => place.directory.close()));
    }
  }

  /** A file's text, as byte string. Refuses what is none. */
  async text(path: string): Promise<string> {
    const entry = await this.#entry(path, { writing: true });
    if (entry.isChanged) {
      if (entry.next) return entry.next.toString('latin1');
      throw new SandboxRefusal(
        'file-unknown',
        `${JSON.stringify(path)} is deleted by an earlier part of the same call.`,
      );
    }
    return entry.text ?? (await this.#read(entry));
  }

  /** Whether something has that path. */
  async has(path: string): Promise<boolean> {
    try {
      const entry = await this.#entry(path, { writing: true });
      return entry.isChanged ? entry.next !== undefined : entry.place.facts !== undefined;
    } catch (error) {
      if (error instanceof SandboxRefusal && error.code === 'directory-unknown') return false;
      throw error;
    }
  }

  /** Drafts a file's content. @returns whether it is new */
  async write(
    path: string,
    content: Buffer,
    options: { createDirs: boolean; executable?: boolean | undefined },
  ): Promise<boolean> {
    if (content.length > this.maxFileBytes) throw tooLarge(path, content.length, this.maxFileBytes);
    const entry = await this.#entry(path, { writing: true, createDirs: options.createDirs });
    refuseUnlessFile(entry.place);
    const isNew = entry.isChanged ? entry.next === undefined : entry.place.facts === undefined;
    entry.next = content;
    entry.isChanged = true;
    if (options.executable !== undefined) entry.executable = options.executable;
    return isNew;
  }

  /** Drafts that a file, or a link itself, goes. */
  async remove(path: string): Promise<void> {
    const entry = await this.#entry(path, { writing: true, endAsLink: true });
    if (entry.place.facts === undefined && !entry.isChanged) throw await missing(entry.place);
    if (entry.place.facts?.isSymbolicLink() !== true) refuseUnlessFile(entry.place);
    entry.next = undefined;
    entry.isChanged = true;
  }

  async #entry(path: string, way: Way): Promise<Entry> {
    const place = await this.roots.find(path, { ...way, foreign: this.foreign });
    this.#made.push(...place.made);
    const known = this.#entries.get(place.path);
    if (known) {
      await place.directory.close();
      return known;
    }
    const entry = { place, isChanged: false };
    this.#entries.set(place.path, entry);
    return entry;
  }

  async #read(entry: Entry): Promise<string> {
    const { place } = entry;
    try {
      const file = await openedFile(place, constants.O_RDONLY);
      try {
        const bytes = await wholeOf(file, this.maxFileBytes);
        if (!bytes) throw tooLarge(place.asked, (await file.stat()).size, this.maxFileBytes);
        const kind = binaryKind(bytes.subarray(0, sampleBytes));
        if (kind) throw new SandboxRefusal('binary-file', `${JSON.stringify(place.asked)} is no text: ${kind.name}.`);
        const text = bytes.toString('latin1');
        Object.assign(entry, { text });
        return text;
      } finally {
        await file.close();
      }
    } catch (error) {
      throw explained(place.asked, error);
    }
  }

  async #save(): Promise<void> {
    const changes: Change[] = [];
    for (const { place, next, executable, isChanged } of this.#entries.values()) {
      // One that was added and deleted again never was.
      if (isChanged && (next !== undefined || place.facts !== undefined)) {
        changes.push({ place, content: next, executable });
      }
    }
    await makeChanges(changes);
  }
}

/** All of a file; undefined where that is too much. */
async function wholeOf(file: FileHandle, maxBytes: number): Promise<Buffer | undefined> {
  const { size } = await file.stat();
  if (size > maxBytes) return undefined;
  const chunks: Buffer[] = [];
  let bytes = 0;
  for (;;) {
    const chunk = Buffer.allocUnsafe(Math.max(size - bytes, 0) + 1024);
    const { bytesRead } = await file.read(chunk, 0, chunk.length, bytes);
    if (bytesRead === 0) return Buffer.concat(chunks);
    chunks.push(chunk.subarray(0, bytesRead));
    bytes += bytesRead;
    if (bytes > maxBytes) return undefined;
  }
}

function tooLarge(path: string, bytes: number, maxBytes: number): SandboxRefusal {
  return new SandboxRefusal(
    'file-too-large',
    `${JSON.stringify(path)} has ${sized(bytes)}; ${sized(maxBytes)} at most can be written or patched at once.`,
  );
}
