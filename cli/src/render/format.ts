import stringWidth from 'string-width';
import { nanoPerUsd } from '@suzumio/core/budgets/model-cost';
import { dollars as dollarsOf } from '@suzumio/core/budgets/model-cost';
import type { ModelCallView } from '@suzumio/contract/model/model-call';
import type { FileCounts } from '@suzumio/contract/model/workspace';
import type { CliContext } from '../cli-context.js';

/** The time of day, in the person's own time zone. */
export function timeOfDay(iso: string, { timeZone }: Pick<CliContext, 'timeZone'>): string {
  return new Intl.DateTimeFormat('en-GB', {
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    timeZone,
  }).format(new Date(iso));
}

/** Day and time. */
export function dayAndTime(iso: string, { timeZone }: Pick<CliContext, 'timeZone'>): string {
  const day = new Intl.DateTimeFormat('en-CA', { year: 'numeric', month: '2-digit', day: '2-digit', timeZone });
  return `${day.format(new Date(iso))} ${timeOfDay(iso, { timeZone })}`;
}

/** `41 ms`, `1.1 s`, `31 s`, `2 min 5 s`, `3 h 10 min`. */
export function duration(milliseconds: number): string {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 9_950) return `${(milliseconds / 1000).toFixed(1)} s`;
  const seconds = Math.round(milliseconds / 1000);
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
}

/** `740 B`, `1.2 kB`, `31 MB`. */
export function size(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  for (const [unit, one] of [
    ['kB', 1e3],
    ['MB', 1e6],
    ['GB', 1e9],
  ] as const) {
    const amount = bytes / one;
    if (amount < 999.5 || unit === 'GB') return `${amount < 9.95 ? amount.toFixed(1) : Math.round(amount)} ${unit}`;
  }
  return `${bytes} B`;
}

/** `$0.50`, `$12.00`, `$0.0021`. */
export function dollars(usd: number): string {
  return dollarsOf(usd * nanoPerUsd);
}

/** What a call's tokens cost; `-` where that is nothing: its model has no price. */
export function cost(usd: number): string {
  return usd === 0 ? '-' : dollars(usd);
}

/** `1200`, `1200 (1140 cached)`. */
export function tokensIn({ inputTokens, cachedTokens }: { inputTokens: number; cachedTokens: number }): string {
  return cachedTokens === 0 ? String(inputTokens) : `${inputTokens} (${cachedTokens} cached)`;
}

/** `1 turn`, `2 turns`. */
export function count(amount: number, noun: string): string {
  return `${amount} ${noun}${amount === 1 ? '' : 's'}`;
}

/** `+3 ~1 -0`: files that were added, changed and removed. */
export function changedFiles({ added, changed, removed }: FileCounts): string {
  return `+${added} ~${changed} -${removed}`;
}

/** The beginning of a hash: enough to tell two apart by eye. */
export function shortHash(hash: string): string {
  return `${hash.slice(0, 4)}…`;
}

const graphemes = new Intl.Segmenter();

/** A text cut to `columns` of a terminal, with a mark where it was cut. */
export function cut(text: string, columns: number | undefined): string {
  if (columns === undefined || stringWidth(text) <= columns) return text;
  let room = columns - 1;
  let end = 0;
  for (const { segment, index } of graphemes.segment(text)) {
    room -= stringWidth(segment);
    if (room < 0 && end > 0) break;
    end = index + segment.length;
  }
  return `${text.slice(0, end)}…`;
}

/** The end of a text, at most `columns` of a terminal wide, with a mark where it was cut. */
export function cutStart(text: string, columns: number): string {
  if (stringWidth(text) <= columns) return text;
  let room = columns - 1;
  let start = text.length;
  for (const { segment, index } of [...graphemes.segment(text)].reverse()) {
    room -= stringWidth(segment);
    if (room < 0) break;
    start = index;
  }
  return `…${text.slice(start)}`;
}

/** A text followed by spaces, as wide as `columns` of a terminal. */
export function padded(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - stringWidth(text)));
}

/**
 * Wraps a text between words; continuation lines begin with `indent`. A word that is too long stays whole.
 *
 * @param mark ends each line but the last, such as a shell's backslash
 */
export function wrap(text: string, columns: number | undefined, { indent = '', mark = '' } = {}): string[] {
  return text.split('\n').flatMap((line) => wrapLine(line, columns, { indent, mark }));
}

function wrapLine(
  text: string,
  columns: number | undefined,
  { indent, mark }: { indent: string; mark: string },
): string[] {
  if (columns === undefined || stringWidth(text) <= columns) return [text];
  const lines: string[] = [];
  let line = '';
  for (const part of text.split(/(?<=\S) (?=\S)/)) {
    const longer = line === '' ? part : `${line} ${part}`;
    if (line.trim() === '' || stringWidth(longer) + mark.length <= columns) line = longer;
    else {
      lines.push(`${line}${mark}`);
      line = `${indent}${part}`;
    }
  }
  return [...lines, line];
}

/** Why a model was asked again after an answer. */
export const readings: Readonly<Record<Exclude<NonNullable<ModelCallView['reading']>, 'notes'>, string>> = {
  cut: 'cut; asked again',
  'call-as-text': 'call as text; asked again',
  blank: 'blank; asked again',
  oversized: 'too large; asked again',
};
