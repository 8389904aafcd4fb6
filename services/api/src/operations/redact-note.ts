import { isSuzumioError, messageOf } from '@suzumio/contract/errors/suzumio-error';
import type { Redaction, RedactionLeft } from '@suzumio/contract/model/redaction';
import type { NoteRecordAnswer } from '@suzumio/contract/operations/memory';
import type { RedactedAnswer } from '@suzumio/contract/operations/messages';
import { carryProfileChanges } from '@suzumio/store/cell/carry-profile-changes';
import { agentOwner } from '@suzumio/store/memory/agent-notes';
import { type NoteOwner, unknownNote } from '@suzumio/store/memory/notes';
import type { ProjectStore } from '@suzumio/store/projects/project-store';
import { noteRecord, type NoteRecord } from '@suzumio/store/redaction/note-record';
import { redactableNote } from '@suzumio/store/redaction/redact-note';
import type { Redactable } from '@suzumio/store/redaction/redactable';
import { wipeFile } from '@suzumio/store/redaction/wipe';
import type { IdempotencyKey } from '@suzumio/store/sqlite/once';
import type { SqlReader } from '@suzumio/store/sqlite/sql';
import type { ApiContext } from '../context.js';
import { redactIn } from './redact-now.js';

/** @throws SuzumioError `agent-unknown`, `note-unknown` */
export async function recordOfAgentNote(reader: SqlReader, agent: string, note: string): Promise<NoteRecordAnswer> {
  const owner = agentOwner(reader, agent);
  const { owners, redacted, ...record } = await noteRecord(reader, note);
  if (!owners.has(owner.id)) throw unknownNote(owner, note);
  return { id: note, versions: versionsIn([record]), redacted };
}

/** @throws SuzumioError `agent-unknown` */
export async function redactableAgentNote(reader: SqlReader, agent: string, id: string): Promise<Redactable> {
  const owner = { ...agentOwner(reader, agent), kind: 'agent' as const };
  const record = await noteRecord(reader, id);
  const versions = record.owners.has(owner.id) ? record.versions : [];
  return redactableNote({ id, owner, versions }, record);
}

/** @throws SuzumioError `profile-unknown`, `note-unknown`; `store-busy` */
export async function recordOfProfileNote(
  context: ApiContext,
  profile: string,
  note: string,
): Promise<NoteRecordAnswer> {
  const { owner, records, versions, isKnown } = await profileNote(context, profile, note);
  if (!isKnown) throw unknownNote(owner, note);
  return { id: note, versions, redacted: firstOf([...records.values()]) };
}

/**
 * Redacts a note of a profile in the catalog, and in each project that wrote it or was shown it.
 *
 * @throws SuzumioError `profile-unknown`, `note-unknown`, `idempotency-mismatch`; `store-busy`
 */
export async function redactProfileNote(
  context: ApiContext,
  { profile, note: id }: { profile: string; note: string },
  { actor, because, key }: { actor: string; because: string | null; key: IdempotencyKey | undefined },
): Promise<RedactedAnswer> {
  const { catalog, directory, stores } = context.cell;
  // What an agent noted for the profile comes before what is done to it.
  const bring = (store: ProjectStore) => carryProfileChanges(catalog, store);
  const { owner, records, versions, isKnown, left } = await profileNote(context, profile, id, bring);
  const note = { id, owner: { ...owner, kind: 'profile' as const }, versions };
  // Nobody is shown it from here on, so that what the projects have of it becomes no more.
  const earlier = isKnown ? firstOf([...records.values()]) : undefined;
  const { redacted } = await catalog.profileNotes.redactOne(owner, id, { actor, because, earlier }, key);
  for (const [project, record] of records) {
    const answer = await ifThere(
      stores.use(project, (store) => redactIn(context, store, redactableNote(note, record), { actor, because })),
    );
    left.push(...(answer?.left ?? []).map((one) => ({ ...one, detail: `${project}: ${one.detail}` })));
  }
  await catalog.audit.note('profile.note-redacted', { actor, subject: catalog.profiles.get(profile).nickname });
  const wiped = await wipeFile(directory.catalogFile);
  if (wiped.outcome !== 'done') {
    const why = wiped.outcome === 'failed' ? `it cannot be rewritten (${messageOf(wiped.error)})` : 'others use it';
    const detail = `The free space of the catalog, and its log, may still have the bytes: ${why}. The next redaction of a profile's note rewrites it.`;
    left.push({ what: 'database', detail });
  }
  return { id, redacted, left };
}

interface ProfileNote {
  owner: NoteOwner;
  /** What each project has of it that knows it as this profile's. */
  records: Map<string, NoteRecord>;
  /** All that it has said, in the catalog and in these projects. */
  versions: NoteRecordAnswer['versions'];
  isKnown: boolean;
  left: RedactionLeft[];
}

async function profileNote(
  { cell: { catalog, stores } }: ApiContext,
  profile: string,
  id: string,
  bring?: (store: ProjectStore) => Promise<void>,
): Promise<ProfileNote> {
  const owner = catalog.profileNotes.owner(profile);
  const records = new Map<string, NoteRecord>();
  const left: RedactionLeft[] = [];
  for (const { id: project } of catalog.projects.all()) {
    try {
      const record = await stores.use(project, async (store) => {
        await bring?.(store);
        return noteRecord(store.reader, id);
      });
      if (record.owners.has(owner.id)) records.set(project, record);
    } catch (error) {
      if (isSuzumioError(error, 'project-unknown')) continue;
      if (!isSuzumioError(error) || error.code === 'store-busy') throw error;
      left.push({
        what: 'projects',
        detail: `${project} was not searched: ${error.message} Ask again when it can be read.`,
      });
    }
  }
  const texts = catalog.profileNotes.texts(owner, id);
  const versions = versionsIn([{ versions: texts }, ...records.values()]);
  const isKnown = texts.length > 0 || records.size > 0;
  return { owner, records, versions, isKnown, left };
}

function versionsIn(records: readonly Pick<NoteRecord, 'versions'>[]): NoteRecordAnswer['versions'] {
  const versions = records.flatMap((record) => record.versions);
  return [...new Map(versions.map(({ text, tags }) => [text, { text, tags: [...tags] }])).values()];
}

function firstOf(records: readonly Pick<NoteRecord, 'redacted'>[]): Redaction | null {
  const all = records.flatMap(({ redacted }) => redacted ?? []);
  return all.sort((a, b) => a.at.localeCompare(b.at))[0] ?? null;
}

async function ifThere<Result>(work: Promise<Result>): Promise<Result | undefined> {
  try {
    return await work;
  } catch (error) {
    // Deleted meanwhile.
    if (isSuzumioError(error, 'project-unknown')) return undefined;
    throw error;
  }
}
