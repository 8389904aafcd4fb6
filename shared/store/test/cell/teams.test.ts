import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { loadProjectText } from '@suzumio/core/profiles/load-project';
import { type TestCell, teamYaml, testCell } from '../../../../test/support/cell.js';

let testing: TestCell;
beforeEach(async () => {
  testing = await testCell();
});
afterEach(() => testing.close());

const teams = () => testing.cell.catalog.teams;
const profiles = () => testing.cell.catalog.profiles;
const join = (nickname: string, team: string | null = 'research') =>
  profiles().create({ nickname, role: 'researcher', team, persona: 'Look.', model: null, skills: [] });
const stand = async (name: string) => {
  const yaml = teamYaml.replace('name: team', `name: ${name}`);
  const { config } = loadProjectText(yaml, 'test.yaml');
  await testing.cell.createProject({ config, source: yaml, actor: 'test', standingTeam: 'research' });
};

test('a team is its name, what it is for, and the profiles that are in it', async () => {
  const made = await teams().create({ name: 'research', description: 'Finds out.' });
  expect(made).toMatchObject({ name: 'research', description: 'Finds out.', members: [], project: null });
  const { id } = await join('Ren');
  await join('Akari');
  await join('Mio', null);
  await join('Old');
  await profiles().retire('Old');
  expect(teams().get('research').members).toEqual([
    { id: expect.any(String), nickname: 'Akari', role: 'researcher' },
    { id, nickname: 'Ren', role: 'researcher' },
  ]);
  expect(teams().list({ limit: 10 }).items).toMatchObject([{ name: 'research', members: 2 }]);
  expect(await teams().update('research', { description: 'Asks.' })).toMatchObject({ description: 'Asks.' });
});

test('teams are listed by name, part by part', async () => {
  for (const name of ['c', 'a', 'b']) await teams().create({ name, description: '' });
  expect(
    teams()
      .list({ limit: 2 })
      .items.map(({ name }) => name),
  ).toEqual(['a', 'b']);
  expect(
    teams()
      .list({ limit: 2, after: 'b' })
      .items.map(({ name }) => name),
  ).toEqual(['c']);
});

test('a name is given to one team only, and one that is not there is told', async () => {
  await teams().create({ name: 'research', description: '' });
  await expect(teams().create({ name: 'research', description: '' })).rejects.toMatchObject({ code: 'team-exists' });
  expect(() => teams().get('reserch')).toThrow(/There is no team "reserch": did you mean research\?/);
  await expect(teams().update('x', { description: '' })).rejects.toMatchObject({ code: 'team-unknown' });
  await expect(teams().delete('x')).rejects.toMatchObject({ code: 'team-unknown' });
});

test('a team is deleted when nobody is in it any more', async () => {
  await teams().create({ name: 'research', description: '' });
  await join('Akari');
  await expect(teams().delete('research')).rejects.toMatchObject({ code: 'team-not-empty' });
  await profiles().retire('Akari');
  await teams().delete('research');
  expect(teams().list({ limit: 10 }).items).toEqual([]);
  expect(profiles().get('Akari').team).toBeNull();
});

test('a team has the standing project that was made last, for as long as that is there', async () => {
  await teams().create({ name: 'research', description: '' });
  await stand('desk');
  expect(teams().get('research').project).toBe('desk');
  await expect(teams().delete('research')).rejects.toMatchObject({ code: 'team-not-empty' });
  await stand('desk-2');
  expect(teams().get('research').project).toBe('desk-2');
  await testing.cell.deleteProject('desk-2', { actor: 'test' });
  expect(teams().get('research').project).toBeNull();
  await stand('desk-2');
  expect(teams().get('research').project).toBe('desk-2');
});

test('a standing project that the catalog has lost is found again', async () => {
  await teams().create({ name: 'research', description: '' });
  await stand('desk');
  await testing.cell.catalog.projects.remove('desk');
  expect(teams().get('research').project).toBeNull();
  await testing.cell.recover();
  expect(teams().get('research').project).toBe('desk');
});
