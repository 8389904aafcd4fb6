import { setTimeout as pause } from 'node:timers/promises';
import type { Command } from 'commander';
import { isSuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { sayJson, say, type Session } from '../session.js';
import { UsageError } from '../usage-error.js';
import { type When, when, wholeNumber } from './arguments.js';

/** How long a command waits where a server has answered too many of its requests. */
const rateLimitPauseMs = 1_000;

/** Lets a command show more or fewer of the newest. */
export function withLimit(command: Command): Command {
  return command.option('--limit <n>', 'how many of the newest to show', wholeNumber(1, 1000), 50);
}

/** The same, for a table whose rows may begin with the newest. */
export function withOrder(command: Command): Command {
  return withLimit(command).option('--newest', 'the newest first', false);
}

/** Lets a command show only what is of some time. */
export function withTimes(command: Command): Command {
  return command
    .option('--since <when>', 'only from then on: 90m or 1d ago, or a day or moment of UTC', when)
    .option('--until <when>', 'only before then', when);
}

/** Lets a command show only what has words in it. */
export function withSearch(command: Command): Command {
  return command.option(
    '--search <text>',
    'only what has all of this: words, "a phrase", beginnings of words as pars*',
  );
}

export interface LimitOptions {
  limit: number;
}

export interface OrderOptions extends LimitOptions {
  newest: boolean;
}

export interface TimeOptions {
  since?: When;
  until?: When;
}

/**
 * The times that a list is asked for, as the API takes them.
 *
 * @throws UsageError where nothing can be between them
 */
export function timesOf({ context }: Session, { since, until }: TimeOptions): { since?: string; until?: string } {
  const nowMs = context.now();
  const [from, to] = [since?.(nowMs), until?.(nowMs)];
  if (from !== undefined && to !== undefined && from >= to) {
    throw new UsageError(
      `Nothing is from ${iso(from)} on and before ${iso(to)}: --until has to be later than --since.`,
    );
  }
  return {
    ...(from === undefined ? {} : { since: iso(from) }),
    ...(to === undefined ? {} : { until: iso(to) }),
  };
}

const iso = (ms: number) => new Date(ms).toISOString();

/** A part of a list, back from a place. */
type PartBefore<Item> = (page: { limit: number; before?: number }) => Promise<{ items: Item[]; previous?: number }>;

/**
 * The newest of a list, oldest of them first: part by part, for a part may be short, or empty, where much was looked at in
 * vain. Ctrl-C ends the looking, and what was found by then is all.
 */
export async function newestOf<Item>({ context }: Session, limit: number, part: PartBefore<Item>): Promise<Item[]> {
  let items: Item[] = [];
  for (let before: number | undefined; ;) {
    const page = { limit: limit - items.length, ...(before === undefined ? {} : { before }) };
    const answer = await part(page).catch(async (error: unknown) => {
      if (before === undefined || !isSuzumioError(error, 'rate-limited')) throw error;
      await pause(rateLimitPauseMs);
    });
    if (answer !== undefined) {
      items = [...answer.items, ...items];
      before = answer.previous;
      if (before === undefined || items.length >= limit) return items;
    }
    if (context.interrupted.aborted) {
      context.err.write('Interrupted: what is older was not looked at.\n');
      return items;
    }
  }
}

/** Shows rows as a table, or says that there are none. With `--json`, the rows as an array. */
export function sayRows<Row>(
  session: Session,
  rows: readonly Row[],
  none: string,
  toTable: (rows: readonly Row[], session: Session) => string[],
): void {
  sayJson(session, rows);
  say(session, ...(rows.length === 0 ? [none] : toTable(rows, session)));
}

/** A list that may be narrowed. */
export interface Listing<Row> {
  project: string;
  /** What its rows are, in the plural. */
  of: string;
  /** What it is narrowed by. */
  filters: Readonly<Record<string, unknown>>;
  toTable: (rows: readonly Row[], session: Session) => string[];
}

/** Shows a list, and returns its newest row. */
export async function sayList<Row>(
  session: Session,
  { limit, newest }: OrderOptions,
  { project, of, filters, toTable }: Listing<Row>,
  part: PartBefore<Row>,
): Promise<Row | undefined> {
  const rows = await newestOf(session, limit, part);
  const isWhole = Object.values(filters).every((value) => value === undefined);
  sayRows(
    session,
    newest ? rows.toReversed() : rows,
    `${project} has no ${isWhole ? `${of} yet` : `such ${of}`}.`,
    toTable,
  );
  return rows.at(-1);
}
