import { redactedSentence, type Redaction } from '@suzumio/contract/model/redaction';
import { redactFrame } from '@suzumio/core/prompt/redact-frame';
import { Copies, redactedMark } from '@suzumio/core/redaction/copies';
import type { RedactObject } from '@suzumio/core/redaction/redact-json';
import { rebuildNoteIndex, type NoteOwner, type NoteText, unknownNote } from '../memory/notes.js';
import { iso } from '../sqlite/page.js';
import type { Tx } from '../sqlite/tx.js';
import { copiesNow, type SearchedRows } from './find-copies.js';
import { noteRedaction, type NoteRecord } from './note-record.js';
import type { Asked, Redactable, Redacted } from './redactable.js';
import { redactRows } from './redact-rows.js';
import type { Rewriting } from './redact-turn.js';

/** A note that is to go: of an agent, or of a profile, as far as one project has it. */
export interface GoingNote {
  id: string;
  owner: NoteOwner & { kind: 'agent' | 'profile' };
  /** All that it has said, here and in other projects. */
  versions: readonly NoteText[];
}

/**
 * A note that is to go from the memory and from all that was recorded of it, whether it is still there or not. What the
 * first redaction could not know of, such as a call that was under way, another one removes.
 */
export function redactableNote(note: GoingNote, record: NoteRecord): Redactable {
  const copies = copiesOf(note.versions);
  const patterns = [...new Set([...copies.flatMap((one) => one.patterns), note.id])];
  return {
    id: note.id,
    redacted: null,
    patterns,
    without: (text) => copies.reduce((written, one) => one.without(written), text),
    redact: (tx, searched, asked) => redactNote(tx, { note, record, patterns, searched }, asked),
  };
}

interface Found {
  note: GoingNote;
  record: NoteRecord;
  patterns: readonly string[];
  searched: SearchedRows;
}

/** @throws SuzumioError `note-unknown` where its owner never had such a note */
function redactNote(tx: Tx, { note, record, patterns, searched }: Found, { actor, because }: Asked): Redacted {
  const { id, owner } = note;
  if (!record.owners.has(owner.id)) throw unknownNote(owner, id);
  const earlier = noteRedaction(tx, id, copiesNow(tx, patterns, searched).events);
  const redacted = earlier ?? { at: iso(tx.nowMs), by: actor, because };
  if (tx.run('DELETE FROM notes WHERE id = :id', { id }).changes > 0) rebuildNoteIndex(tx);
  redactRows(tx, searched, patterns, noteRewriting(note, redacted, record.writer));
  tx.run('UPDATE projects SET wipes_due = wipes_due + 1');
  if (earlier === null) {
    const [agent, profile] = owner.kind === 'agent' ? [owner.id] : [undefined, owner.id];
    tx.emit({ type: 'memory.redacted', actor, agent, data: { note: id, profile, because } });
  }
  return { id, redacted };
}

/** What is known for the note by its id is replaced whatever its length, and what repeats it, where that is long enough. */
export function noteRewriting(
  { id, versions }: Pick<GoingNote, 'id' | 'versions'>,
  redacted: Redaction,
  writer: string | null = null,
): Rewriting {
  const copies = copiesOf(versions);
  const sentence = redactedSentence('note', redacted);
  const texts = new Set<unknown>(versions.map(({ text }) => text));
  /** The input of the call that wrote it. */
  const isWritten = (value: Record<string, unknown>) =>
    texts.has(value['text']) && Object.keys(value).every((key) => ['text', 'tags', 'scope'].includes(key));
  const object =
    (byWriter: boolean): RedactObject =>
    (value) => {
      if (value['id'] === id && typeof value['text'] === 'string') return { ...value, text: sentence, tags: [] };
      return byWriter && isWritten(value) ? { ...value, text: redactedMark, tags: [] } : value;
    };
  /** The first line of its frame tells its tags. */
  const untagged = (line: string) => (line.startsWith(`[${id}, `) ? line.replace(/, tags: [^\]]*\]$/, ']') : line);
  const text = (written: string) => {
    const framed = written.includes(`[${id}, `)
      ? redactFrame(written, id, sentence).split('\n').map(untagged).join('\n')
      : written;
    return copies.reduce((left, one) => one.without(left), framed);
  };
  return { text, object, writer };
}

/** The longest first: another may begin with a shorter one. */
function copiesOf(versions: readonly NoteText[]): Copies[] {
  return versions
    .map(({ text }) => text)
    .sort((a, b) => b.length - a.length)
    .map((text) => new Copies(text));
}
