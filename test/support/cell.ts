import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadProjectText } from '@suzumio/core/profiles/load-project';
import type { ProjectConfig } from '@suzumio/contract/model/project-config';
import type { ProjectStatus } from '@suzumio/contract/model/project-status';
import type { StorageLimits } from '@suzumio/contract/model/storage';
import type { NewEntry } from '@suzumio/store/cell/project-index';
import { Cell } from '@suzumio/store/cell/cell';
import { catalogMigrations } from '@suzumio/store/cell/migrations';
import { type StoreContext, systemContext } from '@suzumio/store/sqlite/context';
import type { ProjectStore } from '@suzumio/store/projects/project-store';
import type { ProjectStoreHooks } from '@suzumio/store/projects/project-store';
import { writeEmptyDatabase } from '@suzumio/store/sqlite/migrate';
import type { Tx } from '@suzumio/store/sqlite/tx';
import { startProject } from '@suzumio/store/projects/project-transitions';
import { contradiction } from './emitted.js';

/**
 * A cell in a temporary directory, with a clock that a test can hold. Closing it fails where an event was emitted that is
 * not as the table of events says.
 */
export interface TestCell {
  readonly cell: Cell;
  root: string;
  /** Moves the clock; from then on it stands still between calls. */
  setNow(ms: number): void;
  /** Makes a project from YAML, and starts it unless told otherwise. */
  create(yaml?: string, options?: { start?: boolean }): Promise<string>;
  store<Result>(project: string, body: (store: ProjectStore) => Promise<Result> | Result): Promise<Result>;
  write<Result>(project: string, verb: (tx: Tx) => Result): Promise<Result>;
  /** Rows of one statement. */
  rows<Row>(project: string, sql: string): Promise<Row[]>;
  /** Closes it, and opens it again from what is on disk, as a new process does. */
  restart(whileClosed?: () => void): Promise<void>;
  close(): Promise<void>;
}

/** What the catalog is told of a project without labels. */
export const entryOf = (status: ProjectStatus): NewEntry => ({ status, labels: {}, epoch: 1 });

/** The middle of a day, for what counts by days: no test lasts until midnight, or moves its clock there by mistake. */
export const noon = Date.UTC(2026, 10, 22, 12);

/** Two agents that may use every tool, and one that may use none. */
export const teamYaml = `
name: team
task: Do the work.
channels: ["#team", { name: "#pair", members: [ada, ben] }]
backend: { runner: { mode: mock } }
agents:
  ada: { role: writer, prompt: Write., tools: ["*"] }
  ben: { role: reader, prompt: Read., displayName: Benny, tools: ["*"] }
  cat: { role: watcher, prompt: Watch., tools: [] }
`;

/** The same, where agents think with a model that nobody can ask. */
export const withModel = (yaml: string) =>
  yaml.replace(
    'mode: mock',
    'mode: ai, model: main, models: { providers: { p: { type: openai-compatible, baseURL: "http://127.0.0.1:1" } }, presets: { main: { provider: p, model: m } } }',
  );

export interface TestCellOptions {
  hooks?: ProjectStoreHooks;
  id?: string;
  storage?: StorageLimits;
  maxOpen?: number;
  freeBytes?: () => number;
  freeFiles?: () => number;
  /** What its clock begins at and goes on from, such as {@link noon}. @default the system's */
  startMs?: number;
  /** Where its directory is made. @default the system's */
  parent?: string;
  /** A data directory that it begins as a copy of, as one that is restored from a backup. */
  from?: string;
}

/** The same few projects are made again and again: each is parsed once in a suite. */
const configs = new Map<string, ProjectConfig>();

export async function testCell({
  parent = tmpdir(),
  startMs,
  freeBytes,
  freeFiles,
  from,
  ...options
}: TestCellOptions = {}): Promise<TestCell> {
  const root = await mkdtemp(join(parent, 'suzumio-cell-'));
  const system = systemContext();
  const aheadMs = startMs === undefined ? 0 : startMs - system.now();
  let held: number | undefined;
  const context: StoreContext = { ...system, now: () => held ?? system.now() + aheadMs };
  const contradictions: string[] = [];
  const hooks: ProjectStoreHooks = {
    ...options.hooks,
    onEvents(project, events) {
      contradictions.push(...events.flatMap((event) => contradiction(event) ?? []));
      options.hooks?.onEvents?.(project, events);
    },
  };
  // As opening would make it: the steps of its schema, too, are made once in a suite.
  if (from === undefined) writeEmptyDatabase(join(root, 'catalog.db'), catalogMigrations);
  else await cp(from, root, { recursive: true });
  const isGiven = freeBytes !== undefined || freeFiles !== undefined;
  const free = () => ({ bytes: freeBytes?.() ?? 1e15, files: freeFiles?.() ?? Infinity });
  const open = () => Cell.open(root, { ...options, ...(isGiven ? { free } : {}), hooks, context });
  let cell = open();
  const testing: TestCell = {
    get cell() {
      return cell;
    },
    root,
    setNow: (ms) => {
      held = ms;
    },
    async create(yaml = teamYaml, { start = true } = {}) {
      const config = configs.get(yaml) ?? loadProjectText(yaml, 'test.yaml').config;
      configs.set(yaml, config);
      await cell.createProject({ config, source: yaml, actor: 'test' });
      if (start) {
        await cell.catalog.projects.noteRunning(config.name);
        await testing.write(config.name, (tx) => startProject(tx, 'test'));
      }
      return config.name;
    },
    store: (project, body) => cell.stores.use(project, body),
    write: (project, verb) => cell.stores.use(project, (store) => store.write(verb)),
    rows: (project, sql) => cell.stores.use(project, (store) => store.reader.all(sql)),
    async restart(whileClosed) {
      await cell.close();
      whileClosed?.();
      cell = open();
    },
    async close() {
      await cell.close();
      await rm(root, { recursive: true, force: true });
      if (contradictions.length > 0) throw new Error(contradictions.join('\n'));
    },
  };
  return testing;
}

/** Which projects are used from now on, in their order, and the most databases that were open when one was. */
export function watchUse(stores: Cell['stores']): { used: string[]; mostOpen: number } {
  const seen = { used: [] as string[], mostOpen: 0 };
  const use = stores.use.bind(stores);
  stores.use = (project, body, options) => {
    seen.used.push(project);
    const look: typeof body = (store) => {
      seen.mostOpen = Math.max(seen.mostOpen, stores.open);
      return body(store);
    };
    return use(project, look, options);
  };
  return seen;
}
