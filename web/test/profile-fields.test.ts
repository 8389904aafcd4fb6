import { expect, test } from '@jest/globals';
import {
  changedSince,
  changeOf,
  type Fields,
  nothing,
  requestOf,
  writtenOn,
} from '../src/pages/people/profile-fields.js';

const given: Fields = {
  nickname: 'Akari',
  role: 'writer',
  team: 'desk',
  model: '',
  persona: 'Be brief.',
  skills: [{ name: 'style.md', text: 'Short.' }],
};

test('only what was changed is sent, so that what somebody else changed meanwhile stays', () => {
  const written = writtenOn(given, 3, nothing, { role: 'editor', team: '' });
  expect(written).toEqual({ changed: { role: 'editor', team: '' }, base: 3, was: given });
  const now = { ...given, role: 'clerk', persona: 'Be exact.' };
  expect(changeOf(now, written.changed)).toEqual({ role: 'editor', team: null });
  // The form says from it that the profile is another one than when it was begun.
  expect(writtenOn(now, 4, written, { role: 'chief' })).toMatchObject({ base: 3, was: given });
  expect(changedSince(written, now)).toEqual([
    { name: 'Role', before: 'writer', after: 'clerk', isMine: true },
    { name: 'Persona', before: 'Be brief.', after: 'Be exact.', isMine: false },
  ]);
});

test('a field that is as it was given is not written', () => {
  const written = writtenOn(given, 3, nothing, { skills: [] });
  expect(writtenOn(given, 4, written, { skills: [{ name: 'style.md', text: 'Short.' }] })).toEqual(nothing);
  expect(writtenOn(given, 3, nothing, { role: 'writer' })).toEqual(nothing);
});

test('what is left empty is none', () => {
  expect(requestOf({ ...given, team: '', model: ' ' })).toMatchObject({ team: null, model: null, role: 'writer' });
});
