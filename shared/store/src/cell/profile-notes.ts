import type { Redaction } from '@suzumio/contract/model/redaction';
import { redactedMark } from '@suzumio/core/redaction/copies';
import { type RedactObject, redactJson } from '@suzumio/core/redaction/redact-json';
import type { MemoryUse, NoteSearch, NoteView } from '@suzumio/contract/model/note';
import type { DueChange } from '../memory/profile-changes.js';
import {
  addNote,
  countNotes,
  editNote,
  forgetNote,
  insertNote,
  listNotes,
  memoryUse,
  noteCalled,
  type NoteChange,
  type NoteOwner,
  type NoteText,
  rebuildNoteIndex,
  searchNotes,
  unknownNote,
} from '../memory/notes.js';
import { keptTexts } from '../redaction/note-record.js';
import type { Asked, Redacted } from '../redaction/redactable.js';
import type { CatalogDatabase, CatalogTx } from '../sqlite/catalog-database.js';
import type { IdempotencyKey } from '../sqlite/once.js';
import { iso, type Page, type Part } from '../sqlite/page.js';
import type { Profiles } from './profiles.js';

/** What profiles keep in mind across projects. A profile is named by its nickname or its id. */
export class ProfileNotes {
  constructor(
    private readonly db: CatalogDatabase,
    private readonly profiles: Profiles,
  ) {}

  /** @throws SuzumioError `profile-unknown`, `note-unknown` */
  get(profile: string, id: string): NoteView {
    return noteCalled(this.db.reader, this.owner(profile), id);
  }

  /** All that the catalog has of the texts of a note, also of one that was erased a while ago. */
  texts({ id: owner }: NoteOwner, id: string): NoteText[] {
    const { reader } = this.db;
    if (reader.get('SELECT 1 FROM notes WHERE id = :id AND owner <> :owner', { id, owner })) return [];
    return keptTexts(reader, id).filter(({ text }) => text !== redactedMark);
  }

  /** @throws SuzumioError `profile-unknown` */
  list(profile: string, page: Page): Part<NoteView> {
    return listNotes(this.db.reader, this.owner(profile), page);
  }

  /** @throws SuzumioError `profile-unknown` */
  search(profile: string, search: NoteSearch, limit: number): NoteView[] {
    return searchNotes(this.db.reader, this.owner(profile), search, limit);
  }

  /** @throws SuzumioError `profile-unknown` */
  use(profile: string): MemoryUse {
    return memoryUse(this.db.reader, this.owner(profile));
  }

  /** How many notes a profile has, by its id. */
  count(id: string): number {
    return countNotes(this.db.reader, id);
  }

  /** @throws SuzumioError `profile-unknown`, `memory-full`, `idempotency-mismatch` */
  add(profile: string, note: NoteText & { author: string }, key?: IdempotencyKey): Promise<NoteView> {
    return this.db.writeOnce(key, (tx) => ({
      ...addNote(tx, this.owner(profile), { ...note, id: tx.newId('note') }),
    }));
  }

  /** @throws SuzumioError `profile-unknown`, `note-unknown`, `edit-conflict`, `memory-full`, `idempotency-mismatch` */
  edit(profile: string, id: string, change: NoteChange, key?: IdempotencyKey): Promise<NoteView> {
    return this.db.writeOnce(key, (tx) => ({ ...editNote(tx, this.owner(profile), id, change) }));
  }

  /** @throws SuzumioError `profile-unknown`, `note-unknown`, `edit-conflict` */
  async forget(profile: string, id: string, base?: number): Promise<void> {
    await this.db.write((tx) => forgetNote(tx, this.owner(profile), id, base));
  }

  /** Takes changes of one project, in order: those that were taken before are passed over. */
  async carry(project: string, changes: readonly DueChange[]): Promise<void> {
    await this.db.write((tx) => {
      for (const due of changes) {
        if (due.seq <= carriedThrough(tx, project, due.epoch)) continue;
        apply(tx, due);
        tx.run(
          `INSERT INTO profile_changes_carried (project, epoch, through_seq) VALUES (:project, :epoch, :seq)
           ON CONFLICT (project, epoch) DO UPDATE SET through_seq = :seq`,
          { project, epoch: due.epoch, seq: due.seq },
        );
      }
    });
  }

  /**
   * Rewrites the notes that agents of a project wrote.
   *
   * @param redact a text without what goes
   */
  async redact(project: string, redact: (text: string) => string): Promise<void> {
    const written = this.db.reader.all<{ seq: number; text: string }>(
      'SELECT seq, text FROM notes WHERE project = :project',
      { project },
    );
    const held = written.filter(({ text }) => redact(text) !== text).map(({ seq }) => seq);
    if (held.length === 0) return;
    await this.db.write((tx) => {
      for (const seq of held) {
        const row = tx.get<{ text: string }>('SELECT text FROM notes WHERE seq = :seq', { seq });
        if (row) tx.run('UPDATE notes SET text = :text WHERE seq = :seq', { seq, text: redact(row.text) });
      }
      rebuildNoteIndex(tx);
    });
  }

  /**
   * Erases a note that is redacted, and its text in answers to repeated requests.
   *
   * @param earlier that of a project, where one redacted it before; undefined where nothing is recorded of it
   * @throws SuzumioError `note-unknown`, `idempotency-mismatch`
   */
  redactOne(
    owner: NoteOwner,
    id: string,
    { actor, because, earlier }: Asked & { earlier: Redaction | null | undefined },
    key?: IdempotencyKey,
  ): Promise<Redacted> {
    return this.db.writeOnce(key, (tx) => {
      const { changes } = tx.run('DELETE FROM notes WHERE owner = :owner AND id = :id', { owner: owner.id, id });
      if (changes === 0 && earlier === undefined) throw unknownNote(owner, id);
      if (changes > 0) rebuildNoteIndex(tx);
      redactAnswers(tx, id);
      return { id, redacted: earlier ?? { at: iso(tx.nowMs), by: actor, because } };
    });
  }

  /**
   * A profile as the owner of notes.
   *
   * @throws SuzumioError `profile-unknown`
   */
  owner(profile: string): NoteOwner {
    const { id, nickname } = this.profiles.get(profile);
    return { id, name: `profile ${nickname}` };
  }
}

function redactAnswers(tx: CatalogTx, id: string): void {
  const object: RedactObject = (value) =>
    value['id'] === id && typeof value['text'] === 'string' ? { ...value, text: redactedMark, tags: [] } : value;
  const answers = tx.all<{ token: string; route: string; key: string; json: string }>(
    'SELECT token, route, key, response_json AS json FROM idempotency_keys WHERE instr(response_json, :id) > 0',
    { id },
  );
  for (const { json, ...of } of answers) {
    const redacted = redactJson(JSON.parse(json), { text: (text) => text, object });
    tx.run('UPDATE idempotency_keys SET response_json = :json WHERE token = :token AND route = :route AND key = :key', {
      ...of,
      json: JSON.stringify(redacted),
    });
  }
}

function carriedThrough(tx: CatalogTx, project: string, epoch: number): number {
  const find = 'SELECT through_seq AS seq FROM profile_changes_carried WHERE project = :project AND epoch = :epoch';
  return tx.get<{ seq: number }>(find, { project, epoch })?.seq ?? 0;
}

/** What is beyond the bounds by now, because several projects noted at once, is taken all the same: it was answered. */
function apply(tx: CatalogTx, { profile, change }: DueChange): void {
  if ('note' in change) insertNote(tx, profile, change.note, change.atMs);
  else tx.run('DELETE FROM notes WHERE owner = :profile AND id = :id', { profile, id: change.forget });
}
