import { resolve } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import * as z from 'zod';
import { type Labels, labels, labelWord } from '@suzumio/contract/model/labels';
import { hintFrom } from '@suzumio/contract/errors/suggest';
import { type EventType, eventType, eventTypes } from '@suzumio/contract/model/event';
import { type ProjectStatus, projectStatuses } from '@suzumio/contract/model/project-status';
import { MAX_DURATION_MS, parseDuration } from '@suzumio/protocol/duration';
import { priority, type Priority } from '@suzumio/protocol/ids';
import { UsageError } from '../usage-error.js';
import { pairOfWord, type ProviderPair } from '../providers/provider-pair.js';

/** Reads `P0` to `P3`. */
export function parsePriority(text: string): Priority {
  const parsed = priority.safeParse(text.toUpperCase());
  if (parsed.success) return parsed.data;
  throw new InvalidArgumentError('It is P0, P1, P2 or P3 (P1 is usual) and comes before the message.');
}

/**
 * Has a command take a priority and then the words of a message. The words count as optional when the command line is read:
 * where one word is missing, that is the priority, whose own error says so.
 */
export function withMessage(command: Command): Command {
  const before = command.registeredArguments.map((argument) => `<${argument.name()}>`);
  return command
    .argument('<priority>', 'P0 (first) to P3', parsePriority)
    .argument('[message...]')
    .usage(['[options]', ...before, '<priority> <message...>'].join(' '));
}

/** @throws UsageError where there are none */
export function messageOfWords(words: readonly string[], command: string): string {
  if (words.length === 0)
    throw new UsageError('The message is missing; it comes after the priority.', `${command} --help`);
  return words.join(' ');
}

/** Gathers the values of an option that may be given again. */
export function collected(value: string, before: string[] = []): string[] {
  return [...before, value];
}

/** Makes a reader of whole numbers from `min` to `max`. */
export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= min && value <= max) return value;
    throw new InvalidArgumentError(`It is a whole number from ${min} to ${max}.`);
  };
}

/** Reads the number of a version. */
export const parseVersion = wholeNumber(1, Number.MAX_SAFE_INTEGER);

/** Reads a duration with its unit, as milliseconds. */
export function timeSpan(text: string): number {
  const value = parseDuration(text);
  if (value !== undefined && value <= MAX_DURATION_MS) return value;
  throw new InvalidArgumentError('It is a duration, such as 30s, 10m or 1h.');
}

/** Reads an amount of money. */
export function dollars(text: string): number {
  const value = Number(text.replace(/^\$/, ''));
  if (text !== '' && Number.isFinite(value) && value >= 0) return value;
  throw new InvalidArgumentError('It is an amount in dollars, such as 0.50.');
}

/** Reads a limit: a number, or that there is none. */
export function amount(text: string): number | 'unlimited' {
  if (text === 'unlimited') return text;
  const value = Number(text.replace(/^\$/, ''));
  if (text.trim() !== '' && Number.isFinite(value) && value >= 0) return value;
  throw new InvalidArgumentError('It is a number, or "unlimited".');
}

/** Reads a day of UTC, or a moment, as milliseconds: one that names no zone is of UTC, too. */
export function moment(text: string): number {
  const value = momentOf(text);
  if (value !== undefined) return value;
  throw new InvalidArgumentError('It is a day, such as 2026-11-21, or a moment, such as 2026-11-21T20:00:00Z.');
}

function momentOf(text: string): number | undefined {
  const [day] = /^\d{4}-\d{2}-\d{2}(?=T.|$)/.exec(text) ?? [];
  const utc = /T[\d:.]+$/.test(text) ? `${text}Z` : text;
  const value = Date.parse(utc);
  // V8 takes the 31st of February for a day in March.
  const isDay = day !== undefined && !Number.isNaN(value) && new Date(day).toISOString().startsWith(day);
  return isDay ? value : undefined;
}

/** A moment in milliseconds, by a clock that says `nowMs`. */
export type When = (nowMs: number) => number;

/** Reads how long ago a moment was, such as `90m`, or what {@link moment} reads. */
export function when(text: string): When {
  const agoMs = parseDuration(text);
  if (agoMs !== undefined) return (nowMs) => Math.max(0, nowMs - agoMs);
  const value = momentOf(text);
  if (value !== undefined) return () => value;
  throw new InvalidArgumentError(
    'It is how long ago, such as 90m, 12h or 1d, or a day or moment of UTC, such as 2026-11-21 or 2026-11-21T20:00:00Z.',
  );
}

/** Reads a price, in and out. */
export function price(text: string): { input: number; output: number } {
  const [input = '', output = '', ...rest] = text.split('/');
  if (rest.length > 0 || output === '') throw new InvalidArgumentError('It is two amounts, such as 0.15/0.60.');
  return { input: dollars(input), output: dollars(output) };
}

export const parsePort = wholeNumber(0, 65_535);

/** Reads a day. */
export function day(text: string): string {
  if (momentOf(text) !== undefined && text.length === 10) return text;
  throw new InvalidArgumentError('It is a day of UTC, such as 2026-11-21.');
}

/** Reads one more `key=value`. */
export function gatherLabels(word: string, before: Labels = {}): Labels {
  const parsed = labelWord
    .transform(([key, value]) => ({ ...before, [key]: value }))
    .pipe(labels)
    .safeParse(word);
  if (parsed.success) return parsed.data;
  throw new InvalidArgumentError(`${parsed.error.issues.map(({ message }) => message).join('; ')}.`);
}

/** What the option of {@link gatherProviders} does. */
export const allowProvider =
  'let the file ask models there with the key in that variable, without a question; env:NAME where a variable names it; may be given again';

/** Reads one more provider: `ADDRESS`, or `ADDRESS=KEY`. */
export function gatherProviders(word: string, before: ProviderPair[] = []): ProviderPair[] {
  return [...before, pairOfWord(word)];
}

/** What the option of {@link gatherPaths} does. */
export const allowToolpack =
  'let the file load the toolpack in this directory, which may run code on this machine, without a question; may be given again';

/** Reads one more path, relative to the working directory. */
export function gatherPaths(word: string, before: string[] = []): string[] {
  return [...before, resolve(word)];
}

/** Reads statuses of projects, with commas between them. */
export function gatherStatuses(text: string, before: ProjectStatus[] = []): ProjectStatus[] {
  const parsed = z.array(z.enum(projectStatuses)).safeParse(text.split(','));
  if (parsed.success) return [...before, ...parsed.data];
  throw new InvalidArgumentError(`It is one of ${projectStatuses.join(', ')}, or several with commas between them.`);
}

/** Reads types of events, with commas between them. */
export function gatherEventTypes(text: string, before: EventType[] = []): EventType[] {
  const types = text.split(',').map((word) => {
    const parsed = eventType.safeParse(word);
    if (parsed.success) return parsed.data;
    throw new InvalidArgumentError(`There is no type "${word}" of events${hintFrom(word, eventTypes)}`);
  });
  return [...before, ...types];
}
