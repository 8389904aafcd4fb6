import type { Profile } from '@suzumio/sdk/client';
import type { Difference } from '../../acts/difference.js';

/** A profile as its form has it: what is none is an empty text. */
export interface Fields {
  nickname: string;
  role: string;
  team: string;
  model: string;
  persona: string;
  skills: { name: string; text: string }[];
}

/** What somebody has written of a profile: that alone, so that the rest stays what others make of it. */
export interface Written {
  changed: Partial<Fields>;
  /** The version of the profile that it was begun on; 0 while nothing is written. */
  base: number;
  /** The profile as it was then. */
  was: Partial<Fields>;
}

export const nothing: Written = { changed: {}, base: 0, was: {} };

export function fieldsOf({ nickname, role, team, model, persona, skills }: Profile): Fields {
  return { nickname, role, team: team ?? '', model: model ?? '', persona, skills };
}

/** What is written once more of it. A field that is again what was given is not written any more. */
export function writtenOn(given: Fields, version: number, before: Written, part: Partial<Fields>): Written {
  const changed = Object.fromEntries(
    Object.entries({ ...before.changed, ...part }).filter(
      ([name, value]) => !isSame(value, given[name as keyof Fields]),
    ),
  );
  if (Object.keys(changed).length === 0) return nothing;
  return before.base === 0 ? { changed, base: version, was: given } : { ...before, changed };
}

/** What others have changed since it was begun. */
export function changedSince({ was, changed }: Written, now: Fields): Difference[] {
  return (Object.keys(names) as (keyof typeof names)[])
    .filter((field) => field in was && !isSame(was[field], now[field]))
    .map((field) => ({ name: names[field], before: was[field], after: now[field], isMine: field in changed }));
}

const names = { role: 'Role', team: 'Team', model: 'Model', persona: 'Persona', skills: 'Skills' } as const;

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** All of it as a request has it: what is left empty is none. */
export function requestOf({ role, team, model, persona, skills }: Fields) {
  return { role, team: team === '' ? null : team, model: model.trim() === '' ? null : model, persona, skills };
}

/** What was changed of it, as a request has it. */
export function changeOf(given: Fields, changed: Partial<Fields>): Partial<ReturnType<typeof requestOf>> {
  return Object.fromEntries(Object.entries(requestOf({ ...given, ...changed })).filter(([name]) => name in changed));
}
