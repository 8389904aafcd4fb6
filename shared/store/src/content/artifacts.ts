import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { redactedWords, type Redaction } from '@suzumio/contract/model/redaction';
import type { ArtifactView } from '@suzumio/contract/model/artifact';
import { type ArtifactKind, type Attachment, type EarlierPatch, maxEarlierPatches } from '@suzumio/protocol/artifacts';
import type { SqlReader } from '../sqlite/sql.js';
import { definedOf, inTime, iso, type Page, parsed, type Part, readPart } from '../sqlite/page.js';

interface Row {
  seq: number;
  id: string;
  creator: string;
  turn_id: string | null;
  name: string;
  kind: ArtifactKind;
  files: number;
  path: string;
  workspace_path: string | null;
  sha256: string;
  size_bytes: number;
  description: string | null;
  /** Undefined where a database of before is read. */
  base_commit?: string | null;
  created_at_ms: number;
  redacted_json: string | null;
  versions?: number;
}

/** Which artifacts are wanted: those of which all of this holds. */
export interface ArtifactPage extends Page {
  name?: string | undefined;
  /** What their names begin with. */
  prefix?: string | undefined;
  /** An agent's id, or `user`. */
  creator?: string | undefined;
  /** Only the newest of each name, or the newest by `creator`, with the number of its versions. */
  latest?: boolean | undefined;
  since?: number | undefined;
  until?: number | undefined;
}

/** Artifacts in order of publication. */
export function listArtifacts(reader: SqlReader, page: ArtifactPage): Part<ArtifactView> {
  const { name, prefix, creator, latest } = page;
  const time = inTime(reader, { table: 'artifacts', column: 'created_at_ms' }, page);
  const own = ofCreator(creator);
  return readPart<Row, ArtifactView>(
    reader,
    {
      from: 'artifacts',
      ...(latest
        ? {
            columns: `artifacts.*,
              (SELECT count(*) FROM artifacts AS version WHERE version.name = artifacts.name${own('version')}) AS versions`,
          }
        : {}),
      key: 'artifacts.seq',
      where: [...time.where, name === undefined ? undefined : 'name = :name'],
      filters: [
        prefix === undefined ? undefined : 'substr(name, 1, length(:prefix)) = :prefix',
        creator === undefined ? undefined : 'creator = :creator',
        latest ? hasNoNewer(own) : undefined,
      ],
      params: { ...time.params, ...definedOf({ name, prefix, creator }) },
    },
    page,
    artifactView,
  );
}

/** What holds of artifacts that a creator has published; of all, where none is named. */
const ofCreator = (creator: string | undefined) => (table: string) =>
  creator === undefined ? '' : ` AND ${table}.creator = :creator`;

/** What holds of an artifact whose name no newer one has. */
const hasNoNewer = (own: (table: string) => string, upTo = '') =>
  `NOT EXISTS (SELECT 1 FROM artifacts AS newer
     WHERE newer.name = artifacts.name AND newer.seq > artifacts.seq${upTo}${own('newer')})`;

/** The number of the newest artifact; 0 where nothing is published. */
export function newestArtifactOfAll(reader: SqlReader): number {
  return reader.get<{ seq: number | null }>('SELECT max(seq) AS seq FROM artifacts')?.seq ?? 0;
}

/**
 * The newest version of each name, in the order of publication, as they were when `upTo` was the newest artifact. Names
 * whose newest version was redacted are left out.
 */
export function newestVersions(
  reader: SqlReader,
  { after, limit, upTo, creator }: { after: number; limit: number; upTo: number; creator?: string | undefined },
): Part<ArtifactView> {
  const own = ofCreator(creator);
  return readPart<Row, ArtifactView>(
    reader,
    {
      from: 'artifacts',
      key: 'artifacts.seq',
      filters: [`redacted_json IS NULL${own('artifacts')}`, hasNoNewer(own, ' AND newer.seq <= :upTo')],
      params: { upTo, ...definedOf({ creator }) },
    },
    { after, limit, before: upTo + 1 },
    artifactView,
  );
}

/** One artifact by its id, or the newest of that name. */
export function findArtifact(reader: SqlReader, by: { id: string } | { name: string }): ArtifactView | undefined {
  const row =
    'id' in by
      ? reader.get<Row>('SELECT * FROM artifacts WHERE id = :id', { id: by.id })
      : reader.get<Row>('SELECT * FROM artifacts WHERE name = :name ORDER BY seq DESC LIMIT 1', {
          name: by.name,
        });
  return row && artifactView(row);
}

/** The patches that a patch replaces: of the same name, by the same agent, the newest first. */
export function earlierPatches(reader: SqlReader, { creator, name, seq }: ArtifactView): EarlierPatch[] {
  return reader.all<EarlierPatch>(
    `SELECT id, sha256, size_bytes AS sizeBytes, base_commit AS base FROM artifacts
     WHERE name = :name AND creator = :creator AND seq < :seq AND base_commit IS NOT NULL AND redacted_json IS NULL
     ORDER BY seq DESC LIMIT :most`,
    { creator, name, seq, most: maxEarlierPatches },
  );
}

/** A message's attachments, in the order in which they were named. */
export function listAttachments(reader: SqlReader, messageSeq: number): Attachment[] {
  return reader
    .all<Omit<Attachment, 'redacted'> & { isRedacted: number }>(
      `SELECT artifacts.id, name, kind, files, size_bytes AS sizeBytes, redacted_json IS NOT NULL AS isRedacted
     FROM message_attachments CROSS JOIN artifacts ON artifacts.id = artifact_id
     WHERE message_seq = :messageSeq ORDER BY position`,
      { messageSeq },
    )
    .map(({ isRedacted, ...attachment }) => ({ ...attachment, ...(isRedacted === 1 ? { redacted: true } : {}) }));
}

/** @throws SuzumioError `artifact-redacted` where an artifact's content was removed */
export function requireContent({ name, redacted }: Pick<ArtifactView, 'name' | 'redacted'>): void {
  if (redacted === null) return;
  throw new SuzumioError(
    'artifact-redacted',
    `"${name}" has no content any more. ${redactedWords('artifact', redacted)}`,
  );
}

/** Whether content belongs to an artifact, directories included. */
export function isPublished(reader: SqlReader, sha256: string): boolean {
  const row = reader.get<{ published: number }>(
    `SELECT EXISTS (SELECT 1 FROM artifacts WHERE sha256 = :sha256 AND redacted_json IS NULL)
         OR EXISTS (SELECT 1 FROM directory_contents WHERE sha256 = :sha256) AS published`,
    { sha256 },
  );
  return row?.published === 1;
}

function artifactView(row: Row): ArtifactView {
  return {
    id: row.id,
    seq: row.seq,
    creator: row.creator,
    turn: row.turn_id,
    name: row.name,
    kind: row.kind,
    files: row.files,
    path: row.path,
    workspacePath: row.workspace_path,
    sha256: row.sha256,
    sizeBytes: row.size_bytes,
    description: row.description,
    base: row.base_commit ?? null,
    createdAt: iso(row.created_at_ms),
    redacted: parsed<Redaction>(row.redacted_json),
    ...(row.versions === undefined ? {} : { versions: row.versions }),
  };
}
