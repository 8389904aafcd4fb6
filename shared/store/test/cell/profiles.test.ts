import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { nickname } from '@suzumio/contract/model/profile';
import { agentId } from '@suzumio/protocol/ids';
import { Cell } from '@suzumio/store/cell/cell';
import type { NewProfile } from '@suzumio/store/cell/profiles';
import { type TestCell, testCell } from '../../../../test/support/cell.js';

let testing: TestCell;
beforeEach(async () => {
  testing = await testCell();
});
afterEach(() => testing.close());

const profile = (over: Partial<NewProfile> = {}): NewProfile => ({
  nickname: 'Akari',
  role: 'researcher',
  team: null,
  persona: 'You are {{agent.nickname}} in {{project.name}}.',
  model: null,
  skills: [],
  ...over,
});
const catalog = () => testing.cell.catalog;
const update = (name: string, change: Partial<NewProfile> & { actor?: string; base?: number }) =>
  catalog().profiles.update(name, { actor: 'ops', ...change });
const key = (requestHash = 'h') => ({ token: 't', route: 'POST /api/profiles', key: 'k', requestHash });

describe('a profile', () => {
  test('has an id that stays, whatever else of it changes', async () => {
    await catalog().teams.create({ name: 'research', description: 'Finds out.' });
    const made = await catalog().profiles.create(profile());
    expect(made.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    testing.setNow(Date.parse(made.createdAt) + 60_000);
    const skills = [{ name: 'sources.md', text: 'Cite two.' }];
    const changed = await update(made.id, {
      role: 'writer',
      team: 'research',
      model: 'main',
      skills,
    });
    expect(changed).toEqual({
      ...made,
      role: 'writer',
      team: 'research',
      model: 'main',
      skills,
      version: 2,
      editedBy: 'ops',
      updatedAt: new Date(Date.parse(made.createdAt) + 60_000).toISOString(),
    });
    expect(catalog().profiles.get('Akari')).toEqual(changed);
    expect(await update('Akari', { team: null })).toMatchObject({ team: null, role: 'writer' });
  });

  test('is changed on the version that was read: who comes later is told what another has changed', async () => {
    const made = await catalog().profiles.create(profile());
    expect(made).toMatchObject({ version: 1, editedBy: null });
    await update('Akari', { role: 'writer', base: 1, actor: 'haru' });
    await update('Akari', { persona: 'Be brief.', actor: 'mio' });
    const late = update('Akari', { role: 'editor', base: 1 });
    await expect(late).rejects.toMatchObject({
      code: 'edit-conflict',
      message:
        'The profile Akari was read at version 1, and is at version 3 by now (mio); role, persona are not what was read. Nothing was changed: look at what it is by now, and name that version.',
      details: { base: 1, version: 3, by: 'mio', changed: ['role', 'persona'] },
    });
    await expect(update('Akari', { role: 'editor', base: 2 })).rejects.toMatchObject({
      details: { changed: ['persona'] },
    });
    // What says what is there already changes nothing for others.
    expect(await update('Akari', { role: 'writer' })).toMatchObject({ version: 3, editedBy: 'mio' });
    expect(await update('Akari', { role: 'editor', base: 3 })).toMatchObject({
      version: 4,
      editedBy: 'ops',
      role: 'editor',
      persona: 'Be brief.',
    });
  });

  test('is there again when the cell is opened again', async () => {
    const made = await catalog().profiles.create(profile());
    const again = Cell.open(testing.root);
    expect(again.catalog.profiles.get(made.id)).toEqual(made);
    await again.close();
  });

  test('has its nickname to itself, for ever', async () => {
    await catalog().profiles.create(profile());
    await expect(catalog().profiles.create(profile())).rejects.toMatchObject({ code: 'profile-exists' });
    await catalog().profiles.retire('Akari');
    await expect(catalog().profiles.create(profile())).rejects.toMatchObject({
      code: 'profile-exists',
      message: expect.stringContaining('retired and keeps its name'),
    });
  });

  test('that is retired stays to be read, and is changed no more', async () => {
    const made = await catalog().profiles.create(profile());
    const retired = await catalog().profiles.retire('Akari');
    expect(retired.retiredAt).not.toBeNull();
    expect(await catalog().profiles.retire(made.id)).toEqual(retired);
    expect(catalog().profiles.get('Akari')).toEqual(retired);
    await expect(update('Akari', { role: 'x' })).rejects.toMatchObject({ code: 'profile-retired' });
  });

  test('is refused with a variable that nothing fills, with its place', async () => {
    const persona = 'You work in {{project.name}}.\nYou are {{ agent.nickame }} of {{}}.';
    await expect(catalog().profiles.create(profile({ persona }))).rejects.toMatchObject({
      code: 'persona-invalid',
      message:
        'persona:2:9  unknown variable {{agent.nickame}}: did you mean {{agent.nickname}}?\n' +
        'persona:2:32  unknown variable {{}}: there are project.name, project.task, agent.id, agent.nickname, agent.role, team',
    });
    await catalog().profiles.create(profile());
    // As long as a persona may be, and nothing to be tried for hours.
    const spaces = `{{${' '.repeat(60_000)}`;
    await expect(update('Akari', { persona: spaces })).resolves.toMatchObject({ persona: spaces });
    await expect(update('Akari', { persona })).rejects.toMatchObject({ code: 'persona-invalid' });
  });

  test('is refused in a team that is not registered', async () => {
    await expect(catalog().profiles.create(profile({ team: 'research' }))).rejects.toMatchObject({
      code: 'team-unknown',
    });
    await catalog().profiles.create(profile());
    await expect(update('Akari', { team: 'x' })).rejects.toMatchObject({ code: 'team-unknown' });
  });

  test('is made once for one key, and another one is not made under it', async () => {
    const made = await catalog().profiles.create(profile(), key());
    expect(await catalog().profiles.create(profile(), key())).toEqual(made);
    await expect(catalog().profiles.create(profile({ nickname: 'Ren' }), key('other'))).rejects.toMatchObject({
      code: 'idempotency-mismatch',
    });
  });

  test('that nobody knows is answered with what was probably meant', async () => {
    await catalog().profiles.create(profile());
    expect(() => catalog().profiles.get('Akair')).toThrow(/There is no profile "Akair": did you mean Akari\?/);
  });
});

test('profiles are listed by role, by team and part by part, the retired ones apart', async () => {
  await catalog().teams.create({ name: 'research', description: '' });
  await catalog().profiles.create(profile({ nickname: 'Ren', team: 'research' }));
  await catalog().profiles.create(profile({ nickname: 'Akari' }));
  await catalog().profiles.create(profile({ nickname: 'Mio', role: 'manager', team: 'research' }));
  await catalog().profiles.create(profile({ nickname: 'Old' }));
  await catalog().profiles.retire('Old');
  const names = (listing: object) =>
    catalog()
      .profiles.list({ limit: 10, ...listing })
      .items.map((one) => one.nickname);
  expect(names({})).toEqual(['Akari', 'Mio', 'Ren']);
  expect(names({ role: 'researcher' })).toEqual(['Akari', 'Ren']);
  expect(names({ team: 'research' })).toEqual(['Mio', 'Ren']);
  expect(names({ team: 'research', role: 'researcher' })).toEqual(['Ren']);
  expect(names({ retired: true })).toEqual(['Old']);
  expect(names({ limit: 2 })).toEqual(['Akari', 'Mio']);
  expect(names({ limit: 2, after: 'Mio' })).toEqual(['Ren']);
});

test.each(['Akari', 'Émile', '由紀', 'R2-D2', 'Mary.Ann_2'])('%s can be a nickname', (name) => {
  expect(nickname.safeParse(name).success).toBe(true);
  expect(agentId.safeParse(name).success).toBe(false);
});

test.each(['akari', 'user', 'system', '@all', '#team', '4711', 'A b', 'A\n', 'E\u0301mile', 'A'.repeat(64), ''])(
  '%j can be none',
  (name) => {
    expect(nickname.safeParse(name).success).toBe(false);
  },
);
