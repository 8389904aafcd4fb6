import type { Profile } from '@suzumio/sdk/client';

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
  /** When the profile had last been changed as this was begun; empty while nothing is written. */
  since: string;
}

export const nothing: Written = { changed: {}, since: '' };

export function fieldsOf({ nickname, role, team, model, persona, skills }: Profile): Fields {
  return { nickname, role, team: team ?? '', model: model ?? '', persona, skills };
}

/** What is written once more of it is. A field that is again what was given is not written any more. */
export function writtenOn(given: Fields, updatedAt: string, before: Written, part: Partial<Fields>): Written {
  const changed = Object.fromEntries(
    Object.entries({ ...before.changed, ...part }).filter(
      ([name, value]) => JSON.stringify(value) !== JSON.stringify(given[name as keyof Fields]),
    ),
  );
  if (Object.keys(changed).length === 0) return nothing;
  return { changed, since: before.since === '' ? updatedAt : before.since };
}

/** All of it as a request has it: what is left empty is none. */
export function requestOf({ role, team, model, persona, skills }: Fields) {
  return { role, team: team === '' ? null : team, model: model.trim() === '' ? null : model, persona, skills };
}

/** What was changed of it, as a request has it. */
export function changeOf(given: Fields, changed: Partial<Fields>): Partial<ReturnType<typeof requestOf>> {
  return Object.fromEntries(Object.entries(requestOf({ ...given, ...changed })).filter(([name]) => name in changed));
}
