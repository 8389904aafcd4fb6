import type { ConfigChange } from '@suzumio/contract/model/config-change';
import { beginningOf } from '@suzumio/protocol/cut-text';

/** How much of a value is told, in UTF-16 code units. */
const mostChars = 60;

/** A change in a line. */
export function describeChange({ path, before, after }: Pick<ConfigChange, 'path' | 'before' | 'after'>): string {
  return `${path}: ${short(before)} -> ${short(after)}`;
}

function short(value: unknown): string {
  if (value === null || value === undefined) return 'nothing';
  const text = JSON.stringify(value);
  return text.length <= mostChars ? text : `${beginningOf(text, mostChars)}…`;
}
