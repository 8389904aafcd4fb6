import type { OperationShape } from '@suzumio/contract/operations/operation';
import { isDiskFull } from '@suzumio/contract/errors/disk-full';
import { isSuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { Search } from '@suzumio/contract/model/search';
import { indexFor } from '@suzumio/store/mail/index-messages';
import { messageRange, type NumberedPage } from '@suzumio/store/mail/messages';
import type { SqlReader } from '@suzumio/store/sqlite/sql';
import type { Call } from '../call.js';

/** What cannot be indexed now is looked through, or found by another search. */
export function ignoreUnwritable(error: unknown): void {
  const { code } = error as { code?: unknown };
  if (isSuzumioError(error, 'store-busy') || code === 'SQLITE_READONLY' || isDiskFull(error)) return;
  throw error;
}

/** Reads a list that may be searched, after adding to the index what the search would miss. */
export function readIndexed<Shape extends OperationShape, Result>(
  call: Call<Shape> & { query: NumberedPage & { search?: Search | undefined } },
  query: (reader: SqlReader) => Result,
): Promise<Result> {
  return call.withProject(async (store) => {
    const page = call.query;
    if (page.search?.match !== undefined) {
      // What cannot be indexed now is looked through, or found by the next request.
      await indexFor(store, page, messageRange(store.reader, page)).catch(ignoreUnwritable);
    }
    return store.snapshot(query);
  });
}
