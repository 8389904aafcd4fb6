import * as z from 'zod';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { ArtifactView } from '@suzumio/contract/model/artifact';
import { filesOf, type HandedArtifact } from '@suzumio/protocol/artifacts';
import { maxShownBytes } from '@suzumio/protocol/conversation';
import { imageText, unseenText } from '@suzumio/protocol/images';
import { plainText } from '@suzumio/protocol/plain-text';
import type { ContentStore } from '@suzumio/store/content/content-store';
import { publishedDirectory } from '@suzumio/store/content/directories';
import { findArtifact, requireContent } from '@suzumio/store/content/artifacts';
import type { SqlReader } from '@suzumio/store/sqlite/sql';
import { readShownImage } from '../shown-image.js';
import { pathInWorkspace } from './path-in-workspace.js';
import { defineTool } from './tool.js';

const maxBytesAsked = 1024 * 1024;
/** A character has this many bytes at most. */
const maxCharBytes = 4;

export const artifactsRead = defineTool({
  name: 'artifacts.read',
  description:
    'Read what was published or is attached to a message, by its id, or by its name (the newest of that name): the text of a ' +
    'file, an image (PNG, JPEG, GIF, WebP), or the list of what is in a directory. With "to", it is written into your workspace ' +
    'instead, whatever it holds.',
  input: z
    .strictObject({
      id: plainText.min(1).max(100).optional(),
      name: plainText.min(1).max(200).optional(),
      path: plainText.min(1).max(1024).optional().describe('One file of a directory.'),
      to: z.string().min(1).max(1024).optional().describe('Where to write it, relative to your workspace.'),
      offset: z
        .int()
        .min(0)
        .max(Number.MAX_SAFE_INTEGER)
        .default(0)
        .describe(
          'Where to begin, as the last answer says: the byte of a file, or the entry of a list, counted from 0.',
        ),
      maxBytes: z.int().min(1).max(maxBytesAsked).default(maxShownBytes),
    })
    .refine(({ id, name }) => (id === undefined) !== (name === undefined), 'give an id or a name, not both'),
  async prepare({ id, name, path, to, offset, maxBytes: asked }, { reader, content, blind, maxShownBytes: most }) {
    const part = { offset, maxBytes: Math.max(maxCharBytes, Math.min(asked, most)) };
    const target = to === undefined ? undefined : pathInWorkspace(to);
    const artifact = findArtifact(reader, id === undefined ? { name: name ?? '' } : { id });
    if (!artifact) {
      throw new SuzumioError(
        'artifact-unknown',
        `Nothing is published as "${id ?? name ?? ''}"; artifacts.list shows what is.`,
      );
    }
    requireContent(artifact);
    // Its content may go while it is read: then nothing of it is recorded.
    const stillThere = (tx: SqlReader) => {
      const now = findArtifact(tx, { id: artifact.id });
      if (now) requireContent(now);
    };
    const wanted = path === undefined ? handed(artifact) : await fileIn(content, artifact, path);
    if (target !== undefined) {
      return (tx) => {
        stillThere(tx);
        return handOver(wanted, target);
      };
    }
    const called = path ?? artifact.name;
    const image = wanted.kind === 'file' ? await readShownImage(content, wanted, called) : undefined;
    if (image && blind.length > 0) {
      throw new SuzumioError(
        'model-cannot-see',
        `${unseenText(called, image)} With "to" it is written into your workspace.`,
      );
    }
    const text = image
      ? { shown: `${called}: ${imageText(image)}`, truncated: false }
      : wanted.kind === 'file'
        ? await readText(content, wanted, called, part)
        : await readList(content, wanted, part);
    const { sizeBytes } = wanted;
    return (tx) => {
      stillThere(tx);
      const { id: ofArtifact, name: ofName } = artifact;
      const metadata = { id: ofArtifact, name: ofName, sizeBytes, truncated: text.truncated };
      return { output: text.shown, metadata, ...(image ? { image } : {}) };
    };
  },
});

/** An artifact, as runners are told of it. */
export function handed({ id, name, kind, files, sha256, sizeBytes }: ArtifactView): HandedArtifact {
  return { id, name, kind, files, sha256, sizeBytes };
}

async function fileIn(content: ContentStore, artifact: ArtifactView, path: string): Promise<HandedArtifact> {
  const files = artifact.kind === 'directory' ? filesOf(await publishedDirectory(content, artifact.sha256)) : [];
  const file = files.find((candidate) => candidate.path === path);
  if (!file) {
    throw new SuzumioError(
      'artifact-entry-unknown',
      artifact.kind === 'file'
        ? `"${artifact.name}" is a file; leave "path" out.`
        : `There is no file "${path}" in "${artifact.name}"; without "path", artifacts.read lists what there is.`,
    );
  }
  const { id, name } = artifact;
  return { id, name, kind: 'file', files: 1, sha256: file.sha256, sizeBytes: file.sizeBytes };
}

/**
 * Names the files to write, for the runner or shim, which can reach the workspace. The answer is recorded, so an
 * attempt that repeats the call writes the same files.
 */
function handOver(artifact: HandedArtifact, to: string) {
  const { id, name, sha256, sizeBytes } = artifact;
  return {
    output: `${name} (${id}), ${String(sizeBytes)} bytes, for ${to}: to be fetched by GET /content/${sha256}.`,
    metadata: { ...artifact, to },
  };
}

interface Shown {
  shown: string;
  truncated: boolean;
}

/** What is wanted of a text or a list. */
interface Part {
  offset: number;
  maxBytes: number;
}

async function readText(
  content: ContentStore,
  { sha256, sizeBytes }: HandedArtifact,
  name: string,
  { offset, maxBytes }: Part,
): Promise<Shown> {
  const from = Math.min(offset, sizeBytes);
  // The character that has the first byte may begin before it.
  const before = Math.min(from, maxCharBytes - 1);
  // The byte after them shows whether a character ends with them.
  const wanted = Math.min(before + maxBytes + 1, before + sizeBytes - from);
  const bytes = await content.readStart(sha256, wanted, from - before);
  const start = startOfCharacter(bytes, before);
  const shown = wholeCharacters(bytes.subarray(start), maxBytes);
  const [first, next] = [from - before + start, from - before + start + shown.length];
  const note = partNote('Bytes', { first, next, total: sizeBytes });
  const text = decode(shown, name);
  return { shown: note === undefined ? text : `${text}\n${note}`, truncated: next < sizeBytes };
}

/** The manifest as text, as many lines as fit. */
async function readList(content: ContentStore, { sha256 }: HandedArtifact, { offset, maxBytes }: Part): Promise<Shown> {
  const { entries } = await publishedDirectory(content, sha256);
  const lines: string[] = [];
  let bytes = 0;
  for (const entry of entries.slice(offset)) {
    const line = entry.kind === 'directory' ? `${entry.path}/` : `${entry.path}  ${String(entry.sizeBytes)} bytes`;
    bytes += Buffer.byteLength(line) + 1;
    if (bytes > maxBytes && lines.length > 0) break;
    lines.push(line);
  }
  const first = Math.min(offset, entries.length);
  const note = partNote('Entries', { first, next: first + lines.length, total: entries.length });
  return {
    shown:
      entries.length === 0 ? 'The directory is empty.' : [...lines, ...(note === undefined ? [] : [note])].join('\n'),
    truncated: first + lines.length < entries.length,
  };
}

/** Which part is shown, and what shows the next one; undefined where all is. */
function partNote(what: string, { first, next, total }: { first: number; next: number; total: number }) {
  if (first === 0 && next === total) return undefined;
  return `[${what} ${first} to ${next} of ${total}${next < total ? `; go on with offset ${next}` : ''}.]`;
}

const isWithinCharacter = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80;

/** Where the character begins that has the byte at an index. */
function startOfCharacter(bytes: Buffer, at: number): number {
  let start = at;
  while (start > 0 && isWithinCharacter(bytes[start])) start -= 1;
  return start;
}

/** The first bytes of a text, whole characters only. */
function wholeCharacters(bytes: Buffer, maxBytes: number): Buffer {
  return bytes.length <= maxBytes ? bytes : bytes.subarray(0, startOfCharacter(bytes, maxBytes));
}

/** Decodes UTF-8 without NUL. */
function decode(bytes: Buffer, name: string): string {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    if (!text.includes('\0')) return text;
  } catch {
    // Not UTF-8: answered below.
  }
  throw new SuzumioError(
    'artifact-not-text',
    `"${name}" is not a text file, so it cannot be read as one; with "to" it is written into your workspace.`,
  );
}
