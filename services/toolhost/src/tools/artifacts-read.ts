import * as z from 'zod';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { ArtifactView } from '@suzumio/contract/model/artifact';
import { filesOf, type HandedArtifact } from '@suzumio/protocol/artifacts';
import { imageText, unseenText } from '@suzumio/protocol/images';
import { plainText } from '@suzumio/protocol/plain-text';
import type { ContentStore } from '@suzumio/store/content/content-store';
import { publishedDirectory } from '@suzumio/store/content/directories';
import { findArtifact, requireContent } from '@suzumio/store/content/artifacts';
import type { SqlReader } from '@suzumio/store/sqlite/sql';
import { readShownImage } from '../shown-image.js';
import { pathInWorkspace } from './path-in-workspace.js';
import { defineTool } from './tool.js';

const defaultBytes = 64 * 1024;
const mostBytes = 1024 * 1024;

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
      maxBytes: z.int().min(1).max(mostBytes).default(defaultBytes),
    })
    .refine(({ id, name }) => (id === undefined) !== (name === undefined), 'give an id or a name, not both'),
  async prepare({ id, name, path, to, maxBytes }, { reader, content, blind }) {
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
        ? await readText(content, wanted, called, maxBytes)
        : await readList(content, wanted, maxBytes);
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

async function readText(
  content: ContentStore,
  { sha256, sizeBytes }: HandedArtifact,
  name: string,
  maxBytes: number,
): Promise<Shown> {
  const bytes = await content.readStart(sha256, Math.min(maxBytes, sizeBytes));
  return { shown: decode(bytes, name), truncated: sizeBytes > maxBytes };
}

/** The manifest as text, as many lines as fit. */
async function readList(content: ContentStore, { sha256 }: HandedArtifact, maxBytes: number): Promise<Shown> {
  const { entries } = await publishedDirectory(content, sha256);
  const lines: string[] = [];
  let bytes = 0;
  for (const entry of entries) {
    const line = entry.kind === 'directory' ? `${entry.path}/` : `${entry.path}  ${String(entry.sizeBytes)} bytes`;
    bytes += Buffer.byteLength(line) + 1;
    if (bytes > maxBytes) break;
    lines.push(line);
  }
  return {
    shown: entries.length === 0 ? 'The directory is empty.' : lines.join('\n'),
    truncated: lines.length < entries.length,
  };
}

/** Decodes UTF-8 without NUL that may be cut inside a character. */
function decode(bytes: Buffer, name: string): string {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true });
    if (!text.includes('\0')) return text;
  } catch {
    // Not UTF-8: answered below.
  }
  throw new SuzumioError(
    'artifact-not-text',
    `"${name}" is not a text file, so it cannot be read as one; with "to" it is written into your workspace.`,
  );
}
