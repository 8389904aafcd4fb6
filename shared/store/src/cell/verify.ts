import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isSuzumioError, messageOf } from '@suzumio/contract/errors/suzumio-error';
import type { ProjectStatus } from '@suzumio/contract/model/project-status';
import { type ArtifactKind, directoryManifest } from '@suzumio/protocol/artifacts';
import { entriesOf, readSnapshot } from '@suzumio/protocol/workspace-snapshot';
import { ContentStore } from '../content/content-store.js';
import { sharedPacks } from '../content/shared-repository.js';
import { toolpackContents } from '../content/toolpack-contents.js';
import { contradictionsIn } from '../projects/contradictions.js';
import { readConfig, readStatus } from '../projects/read-project.js';
import type { ReadOnlyCell } from './read-only-cell.js';
import type { SqlReader } from '../sqlite/sql.js';

/** A fault found in the data directory. */
export interface Flaw {
  /** What was checked: a file, a rule, an artifact. */
  what: string;
  /** What was found, and what should be there. */
  detail: string;
}

/** The result of checking all that is stored of one project. */
export interface ProjectVerdict {
  project: string;
  /** How many files were read in full. */
  contents: number;
  contentBytes: number;
  flaws: Flaw[];
}

/** Content that a row refers to. */
interface Reference {
  what: string;
  sha256: string;
  /** The size that the database has recorded, if any. */
  sizeBytes?: number;
}

/** Content that is a list of files: of a published directory, or of a workspace. */
interface List {
  what: string;
  sha256: string;
  of: 'directory' | 'workspace';
}

interface Facts {
  status: ProjectStatus;
  contradictions: Record<string, unknown[]>;
  files: Reference[];
  /** Published directories and workspaces: their content is a manifest. */
  lists: List[];
  reports: { version: number; path: string }[];
}

/**
 * Checks that a project's database satisfies its invariants, that every file it refers to is present and intact, and
 * that the catalog agrees. Reads only.
 *
 * @throws SuzumioError `project-unknown`
 */
export async function verifyProject(cell: ReadOnlyCell, project: string): Promise<ProjectVerdict> {
  const verdict: ProjectVerdict = { project, contents: 0, contentBytes: 0, flaws: [] };
  const facts = readFacts(cell, project, verdict.flaws);
  if (!facts) return verdict;
  for (const [rule, rows] of Object.entries(facts.contradictions)) {
    verdict.flaws.push({ what: 'project.db', detail: `It breaks the rule that ${rule}: ${example(rows)}.` });
  }
  verifyCatalog(cell, project, facts.status, verdict.flaws);
  const directory = cell.directory.projectDir(project);
  for (const { version, path } of facts.reports) {
    if (!existsSync(join(directory, path))) {
      verdict.flaws.push({ what: `report, version ${String(version)}`, detail: `${path} is missing.` });
    }
  }
  await verifyContents(new ContentStore(directory), facts, verdict);
  return verdict;
}

/** Directories that look like projects and that the catalog lacks, and the other way round. */
export async function verifyCatalogue(cell: ReadOnlyCell): Promise<Flaw[]> {
  if (!cell.directory.exists()) return [];
  const { projectsDir } = cell.directory;
  const onDisk = (await readdir(projectsDir)).filter((name) => !name.startsWith('.'));
  const listed = new Set(cell.catalogued().map(({ id }) => id));
  return [
    ...[...listed]
      .filter((id) => !existsSync(cell.directory.projectFile(id)))
      .map((id) => ({ what: 'catalog.db', detail: `It lists ${id}, of which there is no database.` })),
    ...onDisk.filter((name) => !listed.has(name)).flatMap((name) => unlisted(cell, name)),
  ];
}

/** A directory that the catalog lacks. */
function unlisted(cell: ReadOnlyCell, name: string): Flaw[] {
  try {
    cell.read(name, () => undefined);
    return [{ what: 'catalog.db', detail: `It lacks ${name}; the next start of a server adds it.` }];
  } catch (error) {
    const what = `projects/${name}`;
    if (!isSuzumioError(error, 'project-unknown')) return [{ what, detail: `${codeOf(error)}: ${messageOf(error)}` }];
    if (!existsSync(cell.directory.projectFile(name))) return [{ what, detail: 'No database is in it: remove it.' }];
    return [{ what, detail: 'It was deleted; the next start of a server removes it.' }];
  }
}

function codeOf(error: unknown): string {
  return isSuzumioError(error) ? error.code : 'internal';
}

function readFacts(cell: ReadOnlyCell, project: string, flaws: Flaw[]): Facts | undefined {
  try {
    return cell.read(project, (reader) => {
      readConfig(reader);
      return {
        status: readStatus(reader).status,
        contradictions: contradictionsIn(reader),
        files: [...artifacts(reader, 'file'), ...packs(reader), ...toolpacks(reader)],
        lists: [...directories(reader), ...workspaces(reader)],
        reports: reader.all<{ version: number; path: string }>('SELECT version, path FROM reports ORDER BY version'),
      };
    });
  } catch (error) {
    if (isSuzumioError(error, 'project-unknown')) throw error;
    flaws.push({ what: 'project.db', detail: `${codeOf(error)}: ${messageOf(error)}` });
    return undefined;
  }
}

function artifacts(reader: SqlReader, kind: ArtifactKind): Reference[] {
  return reader
    .all<{ id: string; name: string; sha256: string; size: number }>(
      'SELECT id, name, sha256, size_bytes AS size FROM artifacts WHERE kind = :kind AND redacted_json IS NULL ORDER BY seq',
      { kind },
    )
    .map(({ id, name, sha256, size }) => ({ what: `artifact ${name} (${id})`, sha256, sizeBytes: size }));
}

function packs(reader: SqlReader): Reference[] {
  return sharedPacks(reader, 0, Number.MAX_SAFE_INTEGER).map(({ push, sha256, sizeBytes }) => ({
    what: `push ${String(push)} to the shared repository`,
    sha256,
    sizeBytes,
  }));
}

function toolpacks(reader: SqlReader): Reference[] {
  return toolpackContents(reader).map(({ id, sha256 }) => ({ what: `toolpack ${id}`, sha256 }));
}

function directories(reader: SqlReader): List[] {
  return artifacts(reader, 'directory').map(({ what, sha256 }) => ({ what, sha256, of: 'directory' }));
}

function workspaces(reader: SqlReader): List[] {
  return reader
    .all<{ id: string; snapshot: string }>(
      'SELECT id, snapshot FROM agents WHERE snapshot IS NOT NULL ORDER BY position',
    )
    .map(({ id, snapshot }) => ({ what: `workspace of ${id}`, sha256: snapshot, of: 'workspace' }));
}

/** The catalog may say `running` of a project that is not, never the other way round. */
function verifyCatalog(cell: ReadOnlyCell, project: string, status: ProjectStatus, flaws: Flaw[]): void {
  const entry = cell.catalogued().find(({ id }) => id === project);
  if (entry === undefined || entry.status === status || entry.status === 'running') return;
  flaws.push({
    what: 'catalog.db',
    detail: `It says that ${project} is ${entry.status}, and ${project} is ${status}; the next start of a server mends it.`,
  });
}

/** Reads every file once, however many rows refer to it. */
async function verifyContents(store: ContentStore, facts: Facts, verdict: ProjectVerdict): Promise<void> {
  const known = new Map<string, string | undefined>();
  const verify = async ({ what, sha256, sizeBytes }: Reference): Promise<boolean> => {
    if (!known.has(sha256)) {
      const found = await hashOf(store, sha256);
      known.set(sha256, found.flaw);
      verdict.contents += 1;
      verdict.contentBytes += found.sizeBytes;
    }
    const size = sizeBytes === undefined ? undefined : await store.sizeOf(sha256);
    const wrongSize =
      size !== undefined && size !== sizeBytes ? `It has ${size} bytes, not ${String(sizeBytes)}.` : undefined;
    const flaw = known.get(sha256) ?? wrongSize;
    if (flaw !== undefined) verdict.flaws.push({ what, detail: flaw });
    return flaw === undefined;
  };
  for (const file of facts.files) await verify(file);
  for (const listed of facts.lists) {
    const read = async (sha256: string) => {
      if (!(await verify({ what: listed.what, sha256 }))) throw new FlawTold();
      return store.readStart(sha256, (await store.sizeOf(sha256)) ?? 0);
    };
    const files = await filesIn(listed, read).catch((error: unknown) => {
      if (error instanceof FlawTold) return [];
      verdict.flaws.push({ what: listed.what, detail: 'Its list of files cannot be read.' });
      return [];
    });
    for (const { path, sha256, sizeBytes } of files) {
      await verify({ what: `${listed.what}, ${path}`, sha256, sizeBytes });
    }
  }
}

async function hashOf(store: ContentStore, sha256: string): Promise<{ sizeBytes: number; flaw?: string }> {
  if (!store.has(sha256)) return { sizeBytes: 0, flaw: `${store.pathOf(sha256)} is missing.` };
  const hash = createHash('sha256');
  let sizeBytes = 0;
  try {
    for await (const chunk of store.read(sha256) as AsyncIterable<Buffer>) {
      hash.update(chunk);
      sizeBytes += chunk.length;
    }
  } catch (error) {
    return { sizeBytes, flaw: `${store.pathOf(sha256)} cannot be read: ${messageOf(error)}.` };
  }
  const actual = hash.digest('hex');
  if (actual === sha256) return { sizeBytes };
  return { sizeBytes, flaw: `${store.pathOf(sha256)} was changed: its SHA-256 is now ${actual}.` };
}

/** A list cannot be read because of a flaw that is in the verdict already. */
class FlawTold extends Error {}

interface ListedFile {
  path: string;
  sha256: string;
  sizeBytes: number;
}

/** @param read the content with this hash, which is what its hash says */
async function filesIn(
  { sha256, of }: List,
  read: (sha256: string) => Promise<Uint8Array>,
): Promise<readonly ListedFile[]> {
  if (of === 'directory') {
    const text = new TextDecoder().decode(await read(sha256));
    return directoryManifest.parse(JSON.parse(text)).entries.filter((entry) => entry.kind === 'file');
  }
  const files: ListedFile[] = [];
  for (const { path, entry } of entriesOf(await readSnapshot(sha256, read))) {
    if (entry.kind === 'file') files.push({ path, sha256: entry.sha256, sizeBytes: entry.sizeBytes });
  }
  return files;
}

/** How many rows contradict a rule, and the first of them. */
function example(rows: readonly unknown[]): string {
  const values = Object.values(rows[0] as object).join(', ');
  return `${rows.length === 1 ? '1 row' : `${String(rows.length)} rows`}, ${rows.length === 1 ? '' : 'such as '}${values.slice(0, 200)}`;
}
