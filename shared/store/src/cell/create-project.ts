import { randomBytes } from 'node:crypto';
import { existsSync, renameSync } from 'node:fs';
import { mkdir, open, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { agentVariables, hiddenValue, withoutEnvTexts, withoutEnvValues } from '@suzumio/core/config/agent-env';
import { workspaceLimitsOf } from '@suzumio/core/config/sandbox-of';
import { renderConfig } from '@suzumio/core/config/render-config';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { Labels } from '@suzumio/contract/model/labels';
import type { ProjectConfig } from '@suzumio/contract/model/project-config';
import type { Grant } from '@suzumio/core/policy/grant';
import { grantFileName } from './grants.js';
import type { Catalog } from './catalog.js';
import { ContentStore, syncDirectory } from '../content/content-store.js';
import type { StoreContext } from '../sqlite/context.js';
import type { DataDirectory } from './data-directory.js';
import type { NewEntry } from './project-index.js';
import { placeOf } from '../projects/file-place.js';
import { ProjectStore } from '../projects/project-store.js';
import { projectRow } from '../rows.js';
import type { Tx } from '../sqlite/tx.js';
import type { CatalogTx } from '../sqlite/catalog-database.js';
import { initializeProject } from '../projects/initialize-project.js';
import { takeToolpacks } from '../content/take-toolpacks.js';
import { snapshotDirectory } from '../content/workspace-seed.js';

const sourceFileName = 'source.yaml';

/** Everything that a project is made from. */
export interface NewProject {
  config: ProjectConfig;
  /** The file as the person wrote it, kept beside the project. */
  source: string;
  actor: string;
  /** @default none */
  labels?: Labels | undefined;
  /** What its creator allows it beyond this host's policy. */
  grant?: Grant | undefined;
  /** Whether a workspace may be copied from a directory, by its path when it is opened. @default from any */
  mayCopy?: ((directory: string) => boolean) | undefined;
  /** Whether a toolpack may be loaded from a directory, by its path when it is opened. @default from none */
  mayLoad?: ((directory: string) => boolean) | undefined;
  /** The team whose standing project this is; it is never submitted. */
  standingTeam?: string | undefined;
  /** Runs in the project's first transaction, after initialization: first mail, start. */
  begin?: ((tx: Tx) => void) | undefined;
  /** Runs in the catalog's transaction that names the project; where it throws, nothing of the project is left. */
  named?: ((tx: CatalogTx) => void) | undefined;
}

/** Prefix of directories under construction; no project's name has it. */
const temporaryPrefix = '.new-';

/** A construction older than this was left by a crash. */
export const constructionMs = 60 * 60 * 1000;

/**
 * Creates a project: builds it under a temporary name, makes it durable, then names it in the catalog and moves it into
 * place in one step. What a crash leaves is removed by {@link removeUnfinishedProjects}, or is a project that the
 * catalog adds at the next start.
 *
 * A reused name starts in a later epoch, so that events, tokens and workspaces of the earlier project are never taken
 * for the new one's.
 *
 * @throws SuzumioError `project-exists`, `invalid-config` when a `workspace.from` or a toolpack cannot be read,
 *   `policy-denied` when one leads elsewhere by now
 */
export async function createProject(
  directory: DataDirectory,
  catalog: Catalog,
  context: StoreContext,
  project: NewProject,
): Promise<void> {
  const { name } = project.config;
  const target = directory.projectDir(name);
  if (existsSync(target)) throw projectExists(name);
  refuseHidden(project.config);
  const building = join(directory.projectsDir, `${temporaryPrefix}${randomBytes(6).toString('hex')}`);
  await mkdir(join(building, 'artifacts'), { recursive: true, mode: 0o700 });
  try {
    const entry = await build(building, context, project, catalog.projects.firstEpoch(name));
    await catalog.projects.add(name, entry, (tx) => {
      project.named?.(tx);
      renameTo(building, target, name);
    });
    await syncDirectory(directory.projectsDir);
  } catch (error) {
    await rm(building, { recursive: true, force: true });
    throw error;
  }
}

/** The file that a project was made from, without the values of its agents' variables; null where it is not there. */
export async function readSource(directory: DataDirectory, project: string): Promise<string | null> {
  try {
    return await readFile(join(directory.projectDir(project), sourceFileName), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** Removes what a crash during {@link createProject} left, but nothing that another process is creating. */
export async function removeUnfinishedProjects(directory: DataDirectory, nowMs: number): Promise<void> {
  for (const entry of await readdir(directory.projectsDir)) {
    if (!entry.startsWith(temporaryPrefix)) continue;
    const path = join(directory.projectsDir, entry);
    const facts = await stat(path).catch(() => undefined);
    if (facts && facts.mtimeMs < nowMs - constructionMs) await rm(path, { recursive: true, force: true });
  }
}

async function build(building: string, context: StoreContext, project: NewProject, epoch: number): Promise<NewEntry> {
  const content = new ContentStore(building);
  const snapshots = await seedWorkspaces(content, project);
  const config = await takeToolpacks(content, project.config, project.mayLoad ?? (() => false));
  await writeDurably(join(building, sourceFileName), withoutEnvTexts(project.source));
  await writeDurably(join(building, 'resolved.yaml'), renderConfig(withoutEnvValues(project.config)));
  if (project.grant) await writeDurably(join(building, grantFileName), JSON.stringify(project.grant));
  const entry = await writeDatabase(building, context, { ...project, config }, { epoch, snapshots });
  await syncDirectory(building);
  return entry;
}

async function writeDatabase(
  building: string,
  context: StoreContext,
  project: NewProject,
  given: { epoch: number; snapshots: ReadonlyMap<string, string> },
): Promise<NewEntry> {
  const { config, actor, labels = {}, standingTeam } = project;
  const file = join(building, 'project.db');
  const store = ProjectStore.create(config.name, file, context);
  try {
    return await store.write((tx) => {
      initializeProject(tx, { config, actor, labels, standingTeam, place: placeOf(file), ...given });
      project.begin?.(tx);
      const standing = standingTeam === undefined ? undefined : { team: standingTeam, instead: true };
      return { status: projectRow(tx).status, labels, epoch: given.epoch, standing };
    });
  } finally {
    await store.close();
  }
}

/** The first snapshot of each agent with a `workspace.from`; agents with the same one share its files. */
export async function seedWorkspaces(
  content: ContentStore,
  { config, mayCopy }: Pick<NewProject, 'config' | 'mayCopy'>,
): Promise<Map<string, string>> {
  const bounds = { limits: workspaceLimitsOf(config), mayCopy };
  const seeded = new Map<string, string>();
  const snapshots = new Map<string, string>();
  for (const [agent, { workspace }] of Object.entries(config.agents)) {
    const from = workspace?.from;
    if (from === undefined) continue;
    const snapshot = seeded.get(from) ?? (await snapshotDirectory(content, from, bounds));
    seeded.set(from, snapshot);
    snapshots.set(agent, snapshot);
  }
  return snapshots;
}

/** A project file with hidden values lacks the values that its agents need. */
function refuseHidden(config: ProjectConfig): void {
  const hidden = agentVariables(config).find(({ value }) => value === hiddenValue);
  if (!hidden) return;
  throw new SuzumioError(
    'invalid-config',
    `agents.${hidden.agent}.env.${hidden.name} is "${hiddenValue}", which stands for a value that was not shown: write the value, or render the file with --show-env.`,
    { agent: hidden.agent, variable: hidden.name },
  );
}

async function writeDurably(file: string, text: string): Promise<void> {
  const handle = await open(file, 'wx', 0o600);
  try {
    await writeFile(handle, text);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function renameTo(building: string, target: string, name: string): void {
  try {
    renameSync(building, target);
  } catch (error) {
    // Another process has created the same project: a directory with content is never replaced.
    if (['ENOTEMPTY', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) throw projectExists(name);
    throw error;
  }
}

function projectExists(name: string): SuzumioError {
  return new SuzumioError(
    'project-exists',
    `There is a project "${name}" already, and it stays as it is: give this one another name, or delete that one first.`,
    {
      project: name,
    },
  );
}
