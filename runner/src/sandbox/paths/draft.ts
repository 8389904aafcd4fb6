import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { sized } from '@suzumio/protocol/sized';
import { lineEnding } from '../text/lines.js';
import { encodingOf, encodingText, fromUtf8, mark, type TextEncoding, toUtf8 } from '../text/encoding.js';
import { binaryKind, otherWay, sampleBytes, sampleOf } from '../text/file-kind.js';
import { type Change, makeChanges } from './change-set.js';
import { explained, hasCode, SandboxRefusal } from './refusal.js';
import { missing, openedFile, type Place, refuseUnlessFile, type Roots, twinsText, type Way } from './roots.js';

/** A file's text as byte string of UTF-8, and how its bytes are that text. */
export interface DraftText {
  readonly text: string;
  readonly encoding: TextEncoding;
}

interface Entry {
  readonly place: Place;
  /** As it was read. */
  readonly text?: DraftText | undefined;
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

  /** A file's text. Refuses what is none. */
  async text(path: string): Promise<DraftText> {
    const entry = await this.#entry(path, { writing: true });
    if (entry.isChanged) {
      if (entry.next) return textOf(entry.place.asked, entry.next);
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

  /** Drafts a file's text. */
  async write(
    path: string,
    { text, encoding }: DraftText,
    options: { createDirs: boolean; executable?: boolean | undefined },
  ): Promise<void> {
    this.#put(await this.#entryFor(path, options), fromUtf8(Buffer.from(text, 'latin1'), encoding));
  }

  /** Drafts all of a file, in the encoding of what is there. @returns whether it is new, and what was kept, in words */
  async writeWhole(
    path: string,
    content: string,
    options: { createDirs: boolean },
  ): Promise<{ isNew: boolean; note: string; sizeBytes: number }> {
    const entry = await this.#entryFor(path, options);
    const isNew = entry.isChanged ? entry.next === undefined : entry.place.facts === undefined;
    const before = isNew ? Buffer.alloc(0) : await this.#sample(entry);
    const encoding = encodingOf(before);
    const isPlain = encoding.name === 'utf-8' && !encoding.hasMark;
    const text = encoding.hasMark && !content.startsWith(mark) ? mark + content : content;
    const bytes = fromUtf8(Buffer.from(text, 'utf8'), encoding);
    this.#put(entry, bytes);
    const stays = isPlain
      ? ''
      : ` It stays ${encodingText(encoding)}; delete it first to have it in UTF-8 without one.`;
    const was = toUtf8(before.subarray(0, before.length & ~1), encoding) ?? before;
    const note = stays + endingsNote(was.toString('latin1'), content) + twinsText(entry.place);
    return { isNew, note, sizeBytes: bytes.length };
  }

  async #entryFor(path: string, options: { createDirs: boolean; executable?: boolean | undefined }): Promise<Entry> {
    const entry = await this.#entry(path, { writing: true, createDirs: options.createDirs });
    refuseUnlessFile(entry.place);
    if (options.executable !== undefined) entry.executable = options.executable;
    return entry;
  }

  #put(entry: Entry, content: Buffer): void {
    if (content.length > this.maxFileBytes) throw tooLarge(entry.place.asked, content.length, this.maxFileBytes);
    entry.next = content;
    entry.isChanged = true;
  }

  /** How a file begins. */
  async #sample({ place, next }: Entry): Promise<Buffer> {
    if (next) return next.subarray(0, sampleBytes);
    try {
      const file = await openedFile(place, constants.O_RDONLY);
      try {
        return await sampleOf(file);
      } finally {
        await file.close();
      }
    } catch (error) {
      // What may not be read may be written over all the same.
      if (hasCode(error, 'EACCES', 'EPERM')) return Buffer.alloc(0);
      throw explained(place.asked, error);
    }
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

  async #read(entry: Entry): Promise<DraftText> {
    const { place } = entry;
    try {
      const file = await openedFile(place, constants.O_RDONLY);
      try {
        const bytes = await wholeOf(file, this.maxFileBytes);
        if (!bytes) throw tooLarge(place.asked, (await file.stat()).size, this.maxFileBytes);
        const text = textOf(place.asked, bytes);
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

/** @throws SandboxRefusal `binary-file` */
function textOf(path: string, bytes: Buffer): DraftText {
  const sample = bytes.subarray(0, sampleBytes);
  const encoding = encodingOf(sample);
  const text = toUtf8(bytes, encoding);
  const kind = text ? binaryKind(sample) : { name: 'damaged UTF-16 text' };
  if (text && !kind) return { text: text.toString('latin1'), encoding };
  const what = kind ?? { name: 'data' };
  throw new SandboxRefusal('binary-file', `${JSON.stringify(path)} is no text: ${what.name}. ${otherWay(what)}`);
}

/** That lines end otherwise than they did. */
function endingsNote(before: string, after: string): string {
  const [was, is] = [lineEnding(before), lineEnding(after)];
  if (was === undefined || is === undefined || was === is) return '';
  const named = { lf: 'LF', crlf: 'CR LF' };
  return ` Its lines ended with ${named[was]} before, and end with ${named[is]} now.`;
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
