import { InvalidArgumentError } from 'commander';
import { priority, type Priority } from '@suzumio/shared/protocol/ids';

/** Reads `P0` to `P3`. */
export function parsePriority(text: string): Priority {
  const parsed = priority.safeParse(text.toUpperCase());
  if (parsed.success) return parsed.data;
  throw new InvalidArgumentError('It is P0, P1, P2 or P3 (P1 is usual) and comes before the message.');
}

/** Makes a reader of whole numbers from `min` to `max`. */
export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= min && value <= max) return value;
    throw new InvalidArgumentError(`It is a whole number from ${min} to ${max}.`);
  };
}

export const parsePort = wholeNumber(0, 65_535);
