import { randomBytes } from 'node:crypto';
import type { FoundText, Search } from '@suzumio/contract/model/search';
import { beginningOf, endOf } from '@suzumio/protocol/cut-text';
import { isBackwards, type ListedRows, type Page } from '../sqlite/page.js';
import type { SqlReader } from '../sqlite/sql.js';
import { indexedPart, type MessageRange } from './index-messages.js';

/** The most rows that are looked through for a text that is in no index. */
const verbatimLooks = 2_000;

/** How much of a text is shown on each side of what was found, in UTF-16 code units. */
const aroundChars = 160;

/** How a list of messages, or of what has the number of one, is confined to those in which something was found. */
export interface Searching {
  /** `index` stands before the list's own tables, whose key is `key`. */
  rows: Pick<ListedRows, 'where' | 'filters' | 'params' | 'end' | 'looks'> & {
    index: string;
    columns: string;
    key: string;
  };
  /** The place in a message where it was found. */
  found: (row: { body: string; snippet?: string | null }) => FoundText;
}

/**
 * What a search adds to a list.
 *
 * @param range where the list begins and ends for other reasons
 * @param seq the column of its rows that has the number of a message
 */
export function searching(
  reader: SqlReader,
  { match, words, verbatim }: Search,
  page: Page,
  { range, seq }: { range: MessageRange; seq: string },
): Searching {
  const nonce = randomBytes(6).toString('hex');
  const params = Object.fromEntries(verbatim.map((text, at) => [`verbatim${String(at)}`, text]));
  const filters = verbatim.map((_text, at) => `instr(messages.body, :verbatim${String(at)}) > 0`);
  const found: Searching['found'] = ({ body, snippet }) =>
    snippet ? piecesOf(snippet, nonce) : around(body, [...words, ...verbatim][0] ?? '');
  const backwards = isBackwards(page);
  const part = match === undefined ? undefined : usableIndex(reader, range, backwards);
  if (match === undefined || part === undefined) {
    const scanned = words.map((_word, at) => `instr(lower(messages.body), lower(:word${String(at)})) > 0`);
    const asked = Object.fromEntries(words.map((word, at) => [`word${String(at)}`, word]));
    return {
      rows: {
        index: '',
        columns: '',
        key: seq,
        filters: [...scanned, ...filters],
        params: { ...asked, ...params },
        looks: verbatimLooks,
      },
      found,
    };
  }
  const end = backwards ? part.after + 1 : part.before - 1;
  const whole = backwards ? part.after <= range.after : part.before >= range.before;
  return {
    rows: {
      index: 'message_words CROSS JOIN ',
      key: 'message_words.rowid',
      columns: `, snippet(message_words, 0, :open, :close, '…', 32) AS snippet`,
      where: ['message_words MATCH :match', `${seq} = message_words.rowid`],
      filters,
      params: { ...params, match, open: `${nonce}[`, close: `${nonce}]` },
      end: whole ? undefined : end,
    },
    found,
  };
}

/**
 * The part of a range that is indexed; undefined where messages have to be looked through, because nothing is there and
 * nothing could be added: the database is of an earlier schema, or cannot be written now.
 */
function usableIndex(reader: SqlReader, range: MessageRange, backwards: boolean): MessageRange | undefined {
  if (!reader.get(`SELECT 1 FROM sqlite_schema WHERE name = 'indexed_messages'`)) return undefined;
  const { gap, ...part } = indexedPart(reader, range, backwards);
  const holds = 'SELECT 1 FROM messages WHERE seq > :after AND seq < :before LIMIT 1';
  return gap === undefined || reader.get(holds, { ...part }) ? part : undefined;
}

function piecesOf(snippet: string, nonce: string): FoundText {
  const pieces = snippet.split(nonce).flatMap((piece, at) => {
    if (at === 0) return [{ text: piece, matched: false }];
    return [{ text: piece.slice(1), matched: piece.startsWith('[') }];
  });
  return pieces
    .map(({ text, matched }, at) => shown(at === 0 ? endOf(text, aroundChars) : text, matched))
    .filter(hasText);
}

function around(body: string, text: string): FoundText {
  const at = body.toLowerCase().indexOf(text.toLowerCase());
  const before = endOf(body.slice(0, Math.max(0, at)), aroundChars);
  return [
    shown(before, false),
    shown(body.slice(at, at + text.length), true),
    shown(body.slice(at + text.length), false),
  ].filter(hasText);
}

const shown = (text: string, matched: boolean) => ({ text: beginningOf(text, aroundChars).toWellFormed(), matched });
const hasText = ({ text }: FoundText[number]) => text !== '';
