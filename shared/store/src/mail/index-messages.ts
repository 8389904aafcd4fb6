import { chunkBits } from './search-schema.js';
import { isBackwards, type Page, untilFull } from '../sqlite/page.js';
import type { SqlReader } from '../sqlite/sql.js';
import type { Database, Tx } from '../sqlite/tx.js';

/** Messages by their numbers, both ends outside. */
export interface MessageRange {
  after: number;
  before: number;
}

/** The text that one transaction adds to the index, in bytes: that takes some 30 ms. */
const batchBytes = 256 * 1024;

/** The most chunks that one search looks at: what words have in common is found within them. */
const mostChunks = 1024;

const firstOf = (chunk: number) => chunk * 2 ** chunkBits;

/**
 * The part of a range that is indexed, from where a reader begins: from its end, where that goes backwards.
 *
 * @returns `gap`: the chunk at which it ends because that is not indexed; undefined where it ends for its length, or is whole
 */
export function indexedPart(
  reader: SqlReader,
  { after, before }: MessageRange,
  backwards: boolean,
): MessageRange & { gap?: number } {
  const newest = reader.get<{ seq: number }>('SELECT coalesce(max(seq), 0) AS seq FROM messages')?.seq ?? 0;
  const [first, last] = [after + 1, Math.min(before - 1, newest)];
  if (last < first) return { after, before };
  const [from, to] = [first >> chunkBits, last >> chunkBits];
  const chunks = Math.min(to - from + 1, mostChunks);
  const [low, high] = backwards ? [to - chunks + 1, to] : [from, from + chunks - 1];
  const through = new Map(
    reader
      .all<{ chunk: number; through_seq: number }>(
        'SELECT chunk, through_seq FROM indexed_messages WHERE chunk BETWEEN :low AND :high',
        { low, high },
      )
      .map(({ chunk, through_seq }) => [chunk, through_seq]),
  );
  for (let at = 0; at < chunks; at += 1) {
    const chunk = backwards ? high - at : low + at;
    if ((through.get(chunk) ?? 0) >= Math.min(last, firstOf(chunk + 1) - 1)) continue;
    return backwards
      ? { after: firstOf(chunk + 1) - 1, before, gap: chunk }
      : { after, before: Math.max(firstOf(chunk), (through.get(chunk) ?? 0) + 1), gap: chunk };
  }
  return backwards
    ? { after: Math.max(after, firstOf(low) - 1), before }
    : { after, before: Math.min(before, firstOf(high + 1)) };
}

/**
 * Adds messages to the index: the next of a range that are missing, from where a reader begins.
 *
 * @returns how many bytes of text were added; undefined where nothing is missing for as much as one search looks at
 */
export function indexMessages(tx: Tx, range: MessageRange, backwards: boolean): number | undefined {
  const { gap: chunk } = indexedPart(tx, range, backwards);
  if (chunk === undefined) return undefined;
  const indexed = tx.get<{ seq: number }>('SELECT through_seq AS seq FROM indexed_messages WHERE chunk = :chunk', {
    chunk,
  });
  const end = firstOf(chunk + 1) - 1;
  const missing = 'SELECT seq, body FROM messages WHERE seq > :after AND seq <= :end ORDER BY seq';
  const params = { after: indexed?.seq ?? firstOf(chunk) - 1, end };
  const { last, bytes } = tx.get<{ last: number | null; bytes: number | null }>(
    `SELECT max(seq) AS last, sum(octet_length(body)) AS bytes FROM (${untilFull(missing, 'seq', 'body')})`,
    { ...params, bytes: batchBytes },
  ) ?? { last: null, bytes: null };
  // The newest chunk goes on growing; in any other, numbers may be missing at the end.
  const through = last ?? end;
  tx.run(`INSERT INTO message_words (rowid, body) ${missing}`, { ...params, end: through });
  tx.run(
    `INSERT INTO indexed_messages (chunk, through_seq) VALUES (:chunk, :through)
     ON CONFLICT (chunk) DO UPDATE SET through_seq = :through`,
    { chunk, through },
  );
  return bytes ?? 0;
}

/**
 * Empties the index, which searches fill again. Where words are removed one by one, the nodes of its tree keep how a removed
 * one began.
 */
export function emptyIndex(tx: Tx): void {
  if (!tx.get('SELECT 1 FROM indexed_messages LIMIT 1')) return;
  tx.run(`INSERT INTO message_words (message_words) VALUES ('delete-all')`);
  tx.run('DELETE FROM indexed_messages');
}

/** The text that one request adds to the index, in bytes: that takes about a second. */
const requestBytes = 8 * 1024 * 1024;
/** The most transactions of a request. */
const requestSteps = 100;

/**
 * Adds to the index what a search would miss, a little at a time; the next request goes on where this one ends.
 *
 * @param steps the most transactions
 */
export async function indexFor(store: Database, page: Page, range: MessageRange, steps = requestSteps): Promise<void> {
  if (!store.reader.get(`SELECT 1 FROM sqlite_schema WHERE name = 'indexed_messages'`)) return;
  const backwards = isBackwards(page);
  let bytes = 0;
  for (let step = 0; step < steps && bytes < requestBytes; step += 1) {
    if (indexedPart(store.reader, range, backwards).gap === undefined) return;
    bytes += (await store.write((tx) => indexMessages(tx, range, backwards))) ?? 0;
  }
}
