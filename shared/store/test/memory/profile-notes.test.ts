import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { loadProjectText } from '@suzumio/core/profiles/load-project';
import { maxNotes, noteQuery } from '@suzumio/contract/model/note';
import { carryProfileChanges } from '@suzumio/store/cell/carry-profile-changes';
import { forgetNoteOfProfile, noteForProfile } from '@suzumio/store/memory/profile-changes';
import { readStatus } from '@suzumio/store/projects/read-project';
import type { Tx } from '@suzumio/store/sqlite/tx';
import { type TestCell, testCell } from '../../../../test/support/cell.js';

let testing: TestCell;
let profile: string;
beforeEach(async () => {
  testing = await testCell();
  const { id } = await testing.cell.catalog.profiles.create({
    nickname: 'Akari',
    role: 'researcher',
    team: null,
    persona: 'Look.',
    model: null,
    skills: [],
  });
  profile = id;
  for (const name of ['one', 'two']) await make(name);
});
afterEach(() => testing.close());

async function make(name: string): Promise<void> {
  const yaml = `name: ${name}\ntask: Find out.\nbackend: { runner: { mode: mock } }\nagents:\n  seeker: { profile: Akari, tools: ["*"] }\n`;
  const { config } = loadProjectText(yaml, 'test.yaml', { profiles: testing.cell.catalog.profiles });
  await testing.cell.createProject({ config, source: yaml, actor: 'test' });
}

const notes = () => testing.cell.catalog.profileNotes;
const turn = { id: 'turn_1', agent_id: 'seeker', number: 1 };
/** What a call of a tool does, without the call. */
const inTurn = <Result>(project: string, verb: (tx: Tx) => Result) => testing.write(project, verb);
const note = (project: string, text: string) =>
  inTurn(project, (tx) => noteForProfile(tx, profile, { text, tags: ['gauge'] }, turn));
const forget = (project: string, id: string) => inTurn(project, (tx) => forgetNoteOfProfile(tx, profile, id, turn));
const carry = (project: string) => testing.store(project, (store) => carryProfileChanges(testing.cell.catalog, store));
const texts = () =>
  notes()
    .list('Akari', { limit: 1000 })
    .items.map(({ text }) => text);
const due = (project: string) => testing.rows(project, 'SELECT * FROM profile_changes');

test('what agents note for their profile is read in every project, with where it was written', async () => {
  await note('one', 'The north gauge was moved.');
  const settled = () => testing.store('one', ({ reader }) => readStatus(reader).settled);
  expect(await settled()).toBe(false);
  await carry('one');
  expect(await settled()).toBe(true);
  const second = await note('two', 'The south gauge is broken.');
  await carry('two');
  expect(notes().search(profile, noteQuery.parse('moved gauge'), 10)).toMatchObject([
    { text: 'The north gauge was moved.', author: 'seeker', project: 'one', turn: 'seeker:1', tags: ['gauge'] },
    { text: 'The south gauge is broken.', project: 'two' },
  ]);
  await forget('one', second);
  await carry('one');
  expect(texts()).toEqual(['The north gauge was moved.']);
});

test('a change is made once, although the process dies before it knows, and a person comes in between', async () => {
  const id = await note('one', 'Once.');
  const dying = await testing.store('one', async (store) => {
    jest.spyOn(store, 'write').mockRejectedValueOnce(new Error('killed'));
    return carryProfileChanges(testing.cell.catalog, store).catch((error: unknown) => error);
  });
  expect(dying).toEqual(new Error('killed'));
  expect(texts()).toEqual(['Once.']);
  expect(await due('one')).toHaveLength(1);
  await notes().forget('Akari', id);
  await testing.restart();
  await Promise.all([carry('one'), carry('one')]);
  expect(await due('one')).toEqual([]);
  expect(texts()).toEqual([]);
});

test('a change that the process dies before is made later, in order', async () => {
  const id = await note('one', 'Wrong.');
  await note('one', 'Right.');
  await forget('one', id);
  await testing.restart();
  await carry('one');
  expect(texts()).toEqual(['Right.']);
});

test('many changes are carried', async () => {
  await inTurn('one', (tx) => {
    for (let at = 0; at < 120; at += 1) noteForProfile(tx, profile, { text: `Note ${at}.`, tags: [] }, turn);
  });
  await carry('one');
  expect(texts()).toHaveLength(120);
  expect(await due('one')).toEqual([]);
});

test('notes stay when the project is deleted in which they were written, also those not carried yet', async () => {
  await note('one', 'Carried.');
  await carry('one');
  await note('one', 'Not yet.');
  await testing.cell.deleteProject('one', { actor: 'test' });
  expect(texts()).toEqual(['Carried.', 'Not yet.']);
  // Another project of that name begins anew.
  await make('one');
  await note('one', 'Of the next.');
  await carry('one');
  expect(texts()).toEqual(['Carried.', 'Not yet.', 'Of the next.']);
});

test('a full memory refuses people, and loses nothing that agents were told is noted', async () => {
  await inTurn('one', (tx) => {
    for (let at = 0; at < maxNotes; at += 1) noteForProfile(tx, profile, { text: `Note ${at}.`, tags: [] }, turn);
  });
  await note('two', 'At the same moment.');
  await carry('one');
  await carry('two');
  expect(notes().use('Akari').notes).toBe(maxNotes + 1);
  await expect(notes().add('Akari', { text: 'More.', tags: [], author: 'ops' })).rejects.toMatchObject({
    code: 'memory-full',
    message: expect.stringContaining('The memory of profile Akari is full'),
  });
});

test('copies of what is redacted go from what agents of that project noted', async () => {
  await note('one', 'The password is hunter2needle.');
  await note('two', 'The password is hunter2needle, too.');
  await carry('one');
  await carry('two');
  await notes().redact('one', (text) => text.replace('hunter2needle', '[redacted]'));
  expect(texts()).toEqual(['The password is [redacted].', 'The password is hunter2needle, too.']);
  expect(notes().search('Akari', noteQuery.parse('hunter2needle'), 10)).toHaveLength(1);
});
