import { describe, expect, test } from '@jest/globals';
import { userIds } from '../src/config.js';
import { sandboxOwner } from '../src/engine/docker/sandbox-owner.js';

const root = { uid: 0, gid: 0 };
const person = { uid: 1234, gid: 1234 };
const turn = '390000000-399999999:39400';
const evil = { cell: 'east', project: 'evil' };
const victim = { cell: 'east', project: 'victim' };

describe('the user of a container', () => {
  test('is another one for each project, where the worker has a range: what the kernel counts by user is not shared', () => {
    const [one, other] = [sandboxOwner({ turn }, evil, root), sandboxOwner({ turn }, victim, root)];
    expect(one.uid).not.toBe(other.uid);
    expect([one.gid, other.gid]).toEqual([39400, 39400]);
    expect(sandboxOwner({ turn }, evil, root)).toEqual(one);
    expect(sandboxOwner({ turn }, { ...evil, cell: 'west' }, root).uid).not.toBe(one.uid);
  });

  test('is within the range', () => {
    const users = Array.from({ length: 1_000 }, (_, n) =>
      sandboxOwner({ turn: '5000-5009:7' }, { cell: 'east', project: `p${String(n)}` }, root),
    );
    expect(new Set(users.map(({ uid }) => uid))).toEqual(new Set(Array.from({ length: 10 }, (_, n) => 5_000 + n)));
  });

  test('is the first of the range for what runs nothing of a project', () => {
    expect(sandboxOwner({ turn }, undefined, root)).toEqual({ uid: 390_000_000, gid: 39_400 });
  });

  test('is one user for all, where the worker has one; and the one that a project file asks for', () => {
    expect(sandboxOwner({ turn: '39400:39401' }, evil, root)).toEqual({ uid: 39_400, gid: 39_401 });
    expect(sandboxOwner({ asked: '2000:2001', turn }, evil, root)).toEqual({ uid: 2_000, gid: 2_001 });
    expect(sandboxOwner({}, evil, person)).toEqual(person);
  });

  test.each([
    ['a range that a project file asks for', { asked: '2000-3000:2000' }, root],
    ['root', { asked: '0:2000' }, root],
    ['a range of a worker that is not root', { turn }, person],
  ])('is refused: %s', (_what, users, own) => {
    expect(() => sandboxOwner(users, evil, own)).toThrow(expect.objectContaining({ code: 'policy-denied' }));
  });
});

test.each([
  ['39400:39400', true],
  ['390000000-399999999:39400', true],
  ['5000-5000:7', true],
  ['5009-5000:7', false],
  ['0-5000:7', false],
  ['5000-:7', false],
  ['5000-5009', false],
])('the setting %s is taken: %s', (users, isTaken) => {
  expect(userIds.safeParse(users).success).toBe(isTaken);
});
