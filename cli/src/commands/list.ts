import type { Command } from 'commander';
import { sayJson, say, type Session } from '../session.js';
import { wholeNumber } from './arguments.js';

/** Lets a command show more or fewer of the newest. */
export function withLimit(command: Command): Command {
  return command.option('--limit <n>', 'how many of the newest to show', wholeNumber(1, 1000), 50);
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
