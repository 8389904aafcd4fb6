import type { SqlParams, SqlReader } from './sql.js';

/** What says where a list goes on: the number or name of a row. */
type Place = number | string;

/** Which page of a list is wanted. */
export interface Page<Of extends Place = number> {
  /** How many rows at most. */
  limit: number;
  /** Only rows behind this place: the first of them. */
  after?: Of | undefined;
  /** Only rows before this place: the last of them, unless `after` or an ascending order says otherwise. */
  before?: Of | undefined;
  /** The order of the rows within the page. @default 'asc' */
  order?: 'asc' | 'desc' | undefined;
}

/** A page of a list. It may be short where it is full of text, or where many rows were looked at in vain. */
export interface Part<Item, Of extends Place = number> {
  items: Item[];
  /** The `after` with which the list goes on. Where rows are added at its end, every page but an empty one has it. */
  next?: Of;
  /** The `before` with which it goes back; none where nothing is before this page. */
  previous?: Of;
}

/** The rows of a list, as SQL. */
export interface ListedRows<Of extends Place = number> {
  from: string;
  /** @default all of `from` */
  columns?: string;
  /** What the rows are ordered by; no two of them have the same. */
  key: string;
  /** What holds of all rows of the list, and is found without looking at others. */
  where?: readonly (string | undefined)[];
  /** What is looked at row by row, at so many of them for one page. */
  filters?: readonly (string | undefined)[];
  params?: SqlParams;
  /** The columns with text of any length. */
  texts?: readonly string[];
  /** The most text of a page, in bytes. @default {@link pageBytes} */
  bytes?: number;
  /** The most rows that are looked at for one page. @default 10,000 */
  looks?: number;
  /** Where looking has to end for now, that row included. */
  end?: Of | undefined;
  /** Whether rows are added at the end: then a page without a place is the newest, else the first. @default true */
  grows?: boolean;
}

/** The most rows that are looked at for one page, unless a list says otherwise. */
const mostLooks = 10_000;

/** Whether a page is filled from its end. */
export function isBackwards({ after, before, order }: Page<Place>, grows = true): boolean {
  if (before === undefined) return after === undefined && (grows || order === 'desc');
  return after === undefined || order === 'desc';
}

/**
 * Reads a page of a list.
 *
 * @param isFull asked after each row whether the page has enough
 */
export function readPart<Row, Item, Of extends Place = number>(
  reader: SqlReader,
  list: ListedRows<Of>,
  page: Page<Of>,
  view: (row: Row) => Item,
  isFull: () => boolean = () => false,
): Part<Item, Of> {
  const { key, from, columns = '*', texts = [], bytes = pageBytes, looks = mostLooks, grows = true } = list;
  const backwards = isBackwards(page, grows);
  const order = backwards ? 'DESC' : 'ASC';
  const where = given([
    ...(list.where ?? []),
    page.after === undefined ? (grows ? `${key} > 0` : undefined) : `${key} > :after`,
    page.before === undefined ? undefined : `${key} < :before`,
  ]);
  const params: Record<string, SqlParams[string]> = {
    ...list.params,
    ...definedOf({ after: page.after, before: page.before }),
  };
  const filters = given(list.filters ?? []);
  const looked: Of | undefined =
    filters.length === 0
      ? undefined
      : reader.get<{ place: Of }>(
          `SELECT ${key} AS place FROM ${from} WHERE ${all(where)} ORDER BY ${key} ${order} LIMIT 1 OFFSET :offset`,
          { ...params, offset: looks - 1 },
        )?.place;
  const end = nearer(looked, list.end, backwards);
  if (end !== undefined) {
    where.push(`${key} ${backwards ? '>=' : '<='} :end`);
    params['end'] = end;
  }
  const rows = `SELECT ${columns}, ${key} AS place FROM ${from} WHERE ${all([...where, ...filters])}
    ORDER BY ${key} ${order} LIMIT :most`;
  const found = reader.all<Row & { place: Of; bytes_through?: number }>(
    texts.length === 0 ? rows : `${untilFull(rows, `place ${order}`, ...texts)} ORDER BY place ${order}`,
    { ...params, most: page.limit + 1, ...(texts.length === 0 ? {} : { bytes }) },
  );
  const items: Item[] = [];
  for (const row of found.slice(0, page.limit)) {
    items.push(view(row));
    if (isFull()) break;
  }
  const more = found.length > items.length || (found.at(-1)?.bytes_through ?? 0) >= bytes;
  const first: Of | undefined = found[0]?.place;
  const last: Of | undefined = found[items.length - 1]?.place;
  const ahead = more ? last : end;
  const behind =
    first !== undefined && (backwards ? grows || page.before !== undefined : !!page.after) ? first : undefined;
  const [next, previous]: (Of | undefined)[] = backwards
    ? [behind, ahead]
    : [ahead ?? (grows ? last : undefined), behind];
  return {
    items: backwards === (page.order === 'desc') ? items : items.reverse(),
    ...(next === undefined ? {} : { next }),
    ...(previous === undefined ? {} : { previous }),
  };
}

/**
 * Reads a page of a list that is made row by row, beginning with its first row, which has the place 1.
 *
 * @param bytes the most that the page has, but for its first row
 */
export function partOfRows<Item extends { seq: number }>(
  rows: Iterable<Item>,
  page: Page,
  bytes = pageBytes,
): Part<Item> {
  const { limit, after = 0, before = Infinity } = page;
  const backwards = isBackwards(page, false);
  const items: { item: Item; size: number }[] = [];
  let size = 0;
  let more = false;
  for (const item of rows) {
    if (item.seq <= after) continue;
    if (item.seq >= before) break;
    const own = Buffer.byteLength(JSON.stringify(item));
    if (!backwards && items.length > 0 && (items.length >= limit || size + own > bytes)) {
      more = true;
      break;
    }
    items.push({ item, size: own });
    size += own;
    while (backwards && items.length > 1 && (items.length > limit || size > bytes)) {
      size -= items.shift()?.size ?? 0;
      more = true;
    }
  }
  const part = items.map(({ item }) => item);
  const [first, last] = [part[0]?.seq, part.at(-1)?.seq];
  return {
    items: page.order === 'desc' ? part.toReversed() : part,
    ...(last === undefined ? {} : { next: last }),
    ...(first === undefined || first === 1 || (backwards && !more && after === 0) ? {} : { previous: first }),
  };
}

/** A page of a list by names that is at hand, in their order. */
export function partOfNames<Item>(
  items: readonly Item[],
  { limit, after = '', before, order = 'asc' }: Page<string>,
  nameOf: (item: Item) => string,
): Part<Item, string> {
  const wanted = items.filter((item) => nameOf(item) > after && (before === undefined || nameOf(item) < before));
  const backwards = isBackwards({ limit, before, order, after: after === '' ? undefined : after }, false);
  const part = backwards ? wanted.slice(-limit) : wanted.slice(0, limit);
  const [first, last] = [part[0], part.at(-1)];
  return {
    items: order === 'desc' ? part.toReversed() : part,
    ...(last === undefined || last === items.at(-1) ? {} : { next: nameOf(last) }),
    ...(first === undefined || first === items[0] ? {} : { previous: nameOf(first) }),
  };
}

/**
 * What holds of rows that were written in a time, by their numbers: rows are written in the order of time, and to find
 * where one begins takes some twenty of them. Where the clock was set back meanwhile, a row of that moment may be missed.
 *
 * @param table has `seq` and `column`
 */
export function inTime(
  reader: SqlReader,
  { table, column, key = `${table}.seq` }: { table: string; column: string; key?: string },
  { since, until }: { since?: number | undefined; until?: number | undefined },
): { where: string[]; params: Record<string, number> } {
  const where: string[] = [];
  const params: Record<string, number> = {};
  const firstFrom = (ms: number): number => {
    let [low, high] = [0, reader.get<{ seq: number | null }>(`SELECT max(seq) AS seq FROM ${table}`)?.seq ?? 0];
    high += 1;
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      const row = reader.get<{ seq: number; at: number }>(
        `SELECT seq, ${column} AS at FROM ${table} WHERE seq >= :middle AND seq < :high ORDER BY seq LIMIT 1`,
        { middle, high },
      );
      if (row === undefined || row.at >= ms) high = middle;
      else low = row.seq;
    }
    return high;
  };
  if (since !== undefined) {
    where.push(`${key} >= :sinceSeq`);
    params['sinceSeq'] = firstFrom(since);
  }
  if (until !== undefined) {
    where.push(`${key} < :untilSeq`);
    params['untilSeq'] = firstFrom(until);
  }
  return { where, params };
}

/** Parameters without those that are not given. */
export function definedOf(params: Readonly<Record<string, SqlParams[string] | undefined>>): SqlParams {
  return Object.fromEntries(
    Object.entries(params).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

function given(conditions: readonly (string | undefined)[]): string[] {
  return conditions.filter((condition) => condition !== undefined);
}

function all(conditions: readonly string[]): string {
  return conditions.length === 0 ? 'true' : conditions.join(' AND ');
}

/** Of two places at which a page may end, the one that its reader comes to first. */
function nearer<Of extends Place>(one: Of | undefined, other: Of | undefined, backwards: boolean): Of | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return one > other === backwards ? one : other;
}

/** The most text that one page of a list has: agents may write long texts, and a page is held and sent as a whole. */
export const pageBytes = 4 * 1024 * 1024;

/**
 * SQL for the rows up to `:bytes` in all, and at least the first.
 *
 * @param rows a query
 * @param order the order in which a page is filled
 * @param texts the columns with text of any length
 */
export function untilFull(rows: string, order: string, ...texts: string[]): string {
  // Not `length`, which ends at the first NUL: an author could hide text behind one.
  const length = texts.map((text) => `coalesce(octet_length(${text}), 0)`).join(' + ');
  return `SELECT * FROM (SELECT *, sum(${length}) OVER (ORDER BY ${order} ROWS UNBOUNDED PRECEDING) AS bytes_through
    FROM (${rows})) WHERE bytes_through - (${length}) < :bytes`;
}

/** An ISO time, or null. */
export function iso(ms: number): string;
export function iso(ms: number | null): string | null;
export function iso(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}

/** A JSON column. */
export function parsed<Value>(json: string | null): Value | null {
  return json === null ? null : (JSON.parse(json) as Value);
}
