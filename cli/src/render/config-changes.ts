import type { ConfigChange } from '@suzumio/contract/model/config-change';
import type { ConfigVersionView } from '@suzumio/contract/model/config-version';
import { oneLine, visibleLines } from '@suzumio/core/prompt/body';
import type { Session } from '../session.js';
import { paint } from './colors.js';
import { dayAndTime } from './format.js';
import { table } from './table.js';

const effects: Readonly<Record<ConfigChange['effect'], string>> = {
  'at-once': 'at once',
  'next-turn': 'next turn',
  'next-start': 'next start',
  refused: 'refused',
};

/** How many lines that stay the same are shown around those that do not. */
const mostAround = 2;

/** The changes of a project's file: of each the field, when it counts, and what goes and comes. */
export function changeLines(changes: readonly ConfigChange[], { context }: Session): string[] {
  const colors = paint(context.out);
  return changes.flatMap(({ path, before, after, effect, reason }) => [
    `${colors.bold(oneLine(path))}  ${effect === 'refused' ? colors.red(effects[effect]) : colors.dim(effects[effect])}`,
    ...differingLines(linesOf(before), linesOf(after)).map(([mark, line]) => {
      const text = `  ${mark} ${line}`.trimEnd();
      return mark === '-' ? colors.red(text) : mark === '+' ? colors.green(text) : colors.dim(text);
    }),
    ...(effect === 'next-turn' ? [] : [`  ${oneLine(reason)}`]),
  ]);
}

/** A text or a list has a line for each of its own; anything else is shown as JSON. */
function linesOf(value: unknown): string[] {
  if (value === null || value === undefined) return [];
  if (typeof value === 'string') return visibleLines(value.replace(/\n$/, ''));
  if (Array.isArray(value)) return value.flatMap((item) => (typeof item === 'string' ? oneLine(item) : json(item)));
  return json(value);
}

function json(value: unknown): string[] {
  const isMap = typeof value === 'object' && value !== null;
  return isMap ? JSON.stringify(value, null, 2).split('\n').flatMap(visibleLines) : [JSON.stringify(value)];
}

/** The lines that go and those that come, with some of what stays around them: all between the first and the last that differ. */
function differingLines(before: readonly string[], after: readonly string[]): [mark: '-' | '+' | ' ', line: string][] {
  const most = Math.min(before.length, after.length);
  let head = 0;
  while (head < most && before[head] === after[head]) head += 1;
  let tail = 0;
  while (tail < most - head && before.at(-1 - tail) === after.at(-1 - tail)) tail += 1;
  const marked = (mark: '-' | '+' | ' ', lines: readonly string[]) =>
    lines.map((line): ['-' | '+' | ' ', string] => [mark, line]);
  const end = before.length - tail;
  return [
    ...marked(' ', before.slice(Math.max(0, head - mostAround), head)),
    ...marked('-', before.slice(head, end)),
    ...marked('+', after.slice(head, after.length - tail)),
    ...marked(' ', before.slice(end, end + mostAround)),
  ];
}

/** The versions of a project's file, a line each. */
export function versionTable(versions: readonly ConfigVersionView[], { context }: Session): string[] {
  return table(
    ['VERSION', 'SINCE', 'BY', 'CHANGES', 'OF'],
    versions.map(({ version, at, by, reverts, changes, changed }) => [
      String(version),
      dayAndTime(at, context),
      oneLine(by),
      version === 1 ? '-' : String(changes),
      oneLine(reverts === null ? changed.join(', ') : `back to ${String(reverts)}: ${changed.join(', ')}`),
    ]),
    context.out,
  );
}
