import { parentPort, workerData } from 'node:worker_threads';
import { SnapshotInvalid } from '@suzumio/protocol/workspace-snapshot';
import { Sql } from '../sqlite/sql.js';
import type { SearchAnswer, SearchOrder } from './content-search.js';
import { searchContent } from './search-content.js';

// The entry of the thread that ContentSearch starts for a large search.

parentPort?.postMessage(await answerTo(workerData as SearchOrder));

async function answerTo({ file, indexFile, projectDir, job }: SearchOrder): Promise<SearchAnswer> {
  const reader = Sql.open(file, { readonly: true });
  const index = Sql.openScratch(indexFile);
  try {
    await searchContent({ index, reader, projectDir }, job, { manifestBytes: Infinity, files: Infinity });
    return {};
  } catch (error) {
    if (error instanceof SnapshotInvalid) return { invalid: error.message };
    throw error;
  } finally {
    index.close();
    reader.close();
  }
}
