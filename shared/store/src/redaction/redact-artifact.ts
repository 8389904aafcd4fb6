import type { ArtifactView } from '@suzumio/contract/model/artifact';
import { redactedSentence, redactedWords, type Redaction, type RedactionLeft } from '@suzumio/contract/model/redaction';
import { Copies, redactedMark } from '@suzumio/core/redaction/copies';
import type { RedactObject } from '@suzumio/core/redaction/redact-json';
import { filesOf } from '@suzumio/protocol/artifacts';
import { turnsShown } from '../content/call-images.js';
import { removeContent, type StillUsed } from '../content/collect-content.js';
import type { ContentStore } from '../content/content-store.js';
import { forgetDirectory, publishedDirectory } from '../content/directories.js';
import type { RecordedResult } from '../journal.js';
import { iso, parsed } from '../sqlite/page.js';
import type { Tx } from '../sqlite/tx.js';
import type { SearchedRows } from './find-copies.js';
import type { Asked, Redactable, Redacted } from './redactable.js';
import { redactRows } from './redact-rows.js';
import type { Rewriting } from './redact-turn.js';

/** Larger files are no text that a tool shows, or a model writes. */
const mostTextBytes = 1024 * 1024;

/** So many files of a directory are looked for where they were copied to. */
const mostTexts = 20;

/** An artifact whose bytes and description are to go, with what calls have shown of them. Name, size and hash stay. */
export async function redactableArtifact(artifact: ArtifactView, content: ContentStore): Promise<Redactable> {
  const { id, sha256, redacted } = artifact;
  const isDirectory = artifact.kind === 'directory' && content.has(sha256);
  const files = isDirectory ? filesOf(await publishedDirectory(content, sha256)) : [artifact];
  const hashes = [...new Set([sha256, ...files.map((file) => file.sha256)])];
  const texts = redacted === null ? await textsOf(content, files) : [];
  const all = [...texts, artifact.description ?? ''].map((text) => new Copies(text));
  const patterns = [...new Set([...all.flatMap((copies) => copies.patterns), id])];
  const without = (text: string) => all.reduce((written, copies) => copies.without(written), text);
  return {
    id,
    redacted,
    patterns,
    without,
    removeContent: async (store, directory) => {
      if (isDirectory) await forgetDirectory(store, content, hashes);
      return leftOf(await removeContent(store, directory, hashes));
    },
    redact: (tx, searched, asked) =>
      redactArtifact(tx, { artifact, hashes, texts, patterns, without, searched }, asked),
  };
}

/** Those of some files that are texts. */
async function textsOf(
  content: ContentStore,
  files: readonly { sha256: string; sizeBytes: number }[],
): Promise<string[]> {
  const texts: string[] = [];
  for (const { sha256, sizeBytes } of files) {
    if (texts.length >= mostTexts) break;
    if (sizeBytes > mostTextBytes || !content.has(sha256)) continue;
    const bytes = await content.readStart(sha256, sizeBytes);
    const text = bytes.toString('utf8');
    if (!text.includes('\0') && Buffer.from(text).equals(bytes)) texts.push(text);
  }
  return texts;
}

interface Found {
  artifact: ArtifactView;
  /** Those of its files, and its own. */
  hashes: readonly string[];
  /** What it says, where that is text. */
  texts: readonly string[];
  patterns: readonly string[];
  without: (text: string) => string;
  searched: SearchedRows;
}

function redactArtifact(tx: Tx, found: Found, asked: Asked): Redacted {
  const { artifact, hashes, patterns, searched } = found;
  const { id, name } = artifact;
  const row = tx.get<{ json: string | null }>('SELECT redacted_json AS json FROM artifacts WHERE id = :id', { id });
  const earlier = parsed<Redaction>(row?.json ?? null);
  if (earlier) return { id, redacted: earlier };
  const { actor, because } = asked;
  const redacted: Redaction = { at: iso(tx.nowMs), by: actor, because };
  tx.run('UPDATE artifacts SET description = NULL, redacted_json = :redacted WHERE id = :id', {
    redacted: JSON.stringify(redacted),
    id,
  });
  redactRows(tx, searched, patterns, rewriting(found, redacted), turnsShown(tx, hashes));
  tx.run('UPDATE projects SET wipes_due = wipes_due + 1');
  tx.emit({ type: 'artifact.redacted', actor, data: { artifact: id, name, because } });
  return { id, redacted };
}

function rewriting({ artifact, hashes, texts, without: text }: Found, redacted: Redaction): Rewriting {
  const { id, name, description, turn } = artifact;
  const sentence = redactedSentence('artifact', redacted);
  /** A call that read it says from now on what it would be told now: nobody can fetch it again. */
  const refused: RecordedResult = {
    ok: false,
    code: 'artifact-redacted',
    message: redactedWords('artifact', redacted),
    refused: false,
  };
  /** Whether this is the input of the call that published it as a text, which may be too short to be known elsewhere. */
  const isWritten = (value: Record<string, unknown>) =>
    value['name'] === name && typeof value['content'] === 'string' && texts.includes(value['content']);
  const object =
    (byWriter: boolean): RedactObject =>
    (written) => {
      const value = byWriter && isWritten(written) ? { ...written, content: redactedMark } : written;
      const { response } = value;
      if (isObject(response) && isRead(response['metadata'])) return { ...refused };
      if ('output' in value && isRead(value['metadata'])) return { ...value, output: sentence };
      const { image, ...others } = value;
      if (isObject(image) && shown.has(image['sha256'])) return { ...others, output: sentence };
      if (description === null || value['description'] !== description) return value;
      if (value['id'] === id) return { ...value, description: null };
      return byWriter ? { ...value, description: redactedMark } : value;
    };
  const shown = new Set<unknown>(hashes);
  // What was published says nothing of how much was shown, or where it was to be written.
  const isRead = (metadata: unknown) =>
    isObject(metadata) && metadata['id'] === id && ('truncated' in metadata || 'to' in metadata);
  return { text, object, writer: turn };
}

const words: Record<StillUsed, string> = {
  published: 'another artifact has the same',
  reported: 'a report has the same',
  pushed: 'the same was pushed to the shared repository',
  fetched: 'the repository of a clone has brought the same',
  'in a workspace': 'the workspace of an agent has the same',
  'just confirmed':
    'a turn that runs may refer to the same; what nobody refers to is removed when it was not stored or asked for in a day',
};

function leftOf(used: ReadonlySet<StillUsed>): RedactionLeft[] {
  if (used.size === 0) return [];
  const why = [...used].map((use) => words[use]).join(', and ');
  return [{ what: 'content', detail: `Stored bytes stay: ${why}.` }];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
