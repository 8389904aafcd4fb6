import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { maxYoungGenerationSizeMb, turnHeapMb } from '@suzumio/protocol/memory-turns';
import { ProjectTurns } from '@suzumio/protocol/project-turns';
import { SnapshotInvalid } from '@suzumio/protocol/workspace-snapshot';
import { Sql, type SqlReader } from '../sqlite/sql.js';
import { threadAnswer } from '../thread-answer.js';
import type { ContentOwner } from './charged-content.js';
import { KeptSnapshots } from './kept-snapshots.js';
import {
  type FoundFile,
  prepareIndex,
  searchContent,
  type SearchJob,
  unchargedAfter,
  unusedAfter,
} from './search-content.js';
import { TooLong } from './stored-snapshot.js';

/** The thread's compiled entry: beside this file, but where this one runs from its source. */
const threadEntry = new URL(
  import.meta.url.endsWith('.ts') ? '../../dist/content/search-thread.js' : './search-thread.js',
  import.meta.url,
);

/** What is searched in this thread: some milliseconds. */
const here = { manifestBytes: 256 * 1024, files: 200 };

/** How many files one transaction removes or charges: the project's database is locked meanwhile. */
const atOnce = 500;

/** One thread at a time in this process. Not among `memoryTurns`: a search of a long history takes minutes. */
const turns = new ProjectTurns();

export interface SearchOrder {
  /** The project's database. */
  file: string;
  indexFile: string;
  projectDir: string;
  job: SearchJob;
}
export type SearchAnswer = { invalid?: string };

/**
 * Searches of one project's stored content. What they find is in a file of their own, since it may be more than memory has room
 * for. A small search is carried out at once, a large one by a thread.
 */
export class ContentSearch {
  readonly kept: KeptSnapshots;

  private constructor(
    private readonly index: Sql,
    private readonly reader: SqlReader,
    private readonly projectDir: string,
  ) {
    this.kept = new KeptSnapshots(index);
  }

  /** Runs `body` with an index, which is removed then. One that a crash leaves is collected as a partial file. */
  static async within<Result>(
    reader: SqlReader,
    projectDir: string,
    body: (search: ContentSearch) => Promise<Result>,
  ): Promise<Result> {
    const file = join(projectDir, 'artifacts', `.${randomBytes(8).toString('hex')}`);
    const index = Sql.openScratch(file);
    try {
      prepareIndex(index);
      return await body(new ContentSearch(index, reader, projectDir));
    } finally {
      index.close();
      await rm(file, { force: true });
    }
  }

  /** @throws SnapshotInvalid where an agent's own snapshot cannot be read */
  async search(job: SearchJob): Promise<void> {
    const { index, reader, projectDir } = this;
    try {
      await searchContent({ index, reader, projectDir }, job, here);
      return;
    } catch (error) {
      if (!(error instanceof TooLong)) throw error;
    }
    const order: SearchOrder = { file: join(projectDir, 'project.db'), indexFile: index.file, projectDir, job };
    const memory = { maxOldGenerationSizeMb: turnHeapMb(), maxYoungGenerationSizeMb };
    const { invalid } = await turns.take(projectDir, () => threadAnswer<SearchAnswer>(threadEntry, order, memory));
    if (invalid !== undefined) throw new SnapshotInvalid(invalid);
  }
  /** The files that nothing refers to, some at a time. */
  unused(): Generator<FoundFile[]> {
    return this.#pages(unusedAfter);
  }

  /** The files in use that nobody is charged for, some at a time, with who is to be. */
  uncharged(): Generator<(FoundFile & ContentOwner)[]> {
    return this.#pages(unchargedAfter);
  }

  *#pages<File extends FoundFile>(read: (index: Sql, after: number, limit: number) => File[]): Generator<File[]> {
    for (let last: File | undefined; ;) {
      const page = read(this.index, last?.id ?? 0, atOnce);
      if (page.length === 0) return;
      yield page;
      last = page.at(-1);
    }
  }
}
