import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { actListAnswer } from '@suzumio/contract/operations/acts';
import { noteAnswer, noteListAnswer } from '@suzumio/contract/operations/memory';
import { redactedAnswer } from '@suzumio/contract/operations/messages';
import { type Answer, type TestApi, testApi } from './support/api.js';
import { refusal } from './support/refusal.js';

let api: TestApi;
beforeEach(async () => {
  api = await testApi();
  await api.create();
  await api.post('/api/profiles', { nickname: 'Akari', role: 'reader', persona: 'Read.' });
});
afterEach(() => api.close());

const ada = '/api/projects/team/agents/ada/notes';
const akari = '/api/profiles/Akari/notes';
const noteIn = (answer: Answer) => noteAnswer.parse(answer.json).note;
const texts = async (path: string) => noteListAnswer.parse((await api.get(path)).json).items.map(({ text }) => text);

describe.each([ada, akari])('notes at %s', (path) => {
  test('are added, found, read, changed and erased by people', async () => {
    const added = await api.post(path, { text: 'Levels in feet.', tags: ['style'] });
    const note = noteIn(added);
    expect(added).toMatchObject({ status: 201, headers: { location: `${path}/${note.id}` } });
    expect(note).toMatchObject({ author: 'admin', project: null, turn: null, editedAt: null, tags: ['style'] });
    await api.post(path, { text: 'The north gauge was moved.' });
    expect(await texts(path)).toEqual(['Levels in feet.', 'The north gauge was moved.']);
    expect(await texts(`${path}?order=desc&limit=1`)).toEqual(['The north gauge was moved.']);
    expect(await texts(`${path}?q=where+is+the+gauge`)).toEqual(['The north gauge was moved.']);
    expect(noteIn(await api.get(`${path}/${note.id}`))).toEqual(note);

    const changed = noteIn(await api.post(`${path}/${note.id}`, { text: 'Levels in metres.' }));
    expect(changed).toMatchObject({ text: 'Levels in metres.', tags: ['style'], editedBy: 'admin' });
    expect(noteIn(await api.post(`${path}/${note.id}`, { tags: [] }))).toMatchObject({
      text: 'Levels in metres.',
      tags: [],
    });
    expect(await api.call('DELETE', `${path}/${note.id}`)).toMatchObject({ status: 200, json: { id: note.id } });
    expect(refusal(await api.call('DELETE', `${path}/${note.id}`))).toMatchObject({ code: 'note-unknown' });
    const list = noteListAnswer.parse((await api.get(path)).json);
    expect(list).toMatchObject({ use: { notes: 1, maxNotes: 1000, maxBytes: 1024 * 1024 } });
  });

  test('are changed on the version that was read', async () => {
    const { id, version } = noteIn(await api.post(path, { text: 'Levels in feet.' }));
    const change = (text: string, baseVersion?: number) => api.post(`${path}/${id}`, { text, baseVersion });
    const answers = await Promise.all([change('In metres.', version), change('In yards.', version)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
    expect(answers.find(({ status }) => status === 409)?.json).toMatchObject({
      code: 'edit-conflict',
      detail: expect.stringMatching(/^The note note_\w+ of (agent ada|profile Akari) was read at version 1, and is/),
      base: 1,
      version: 2,
      by: 'admin',
    });
    expect(noteIn(await change('In miles.', 2))).toMatchObject({ text: 'In miles.', version: 3 });
    expect(noteIn(await change('In inches.'))).toMatchObject({ text: 'In inches.', version: 4 });
    const erase = (base: string) => api.call('DELETE', `${path}/${id}?baseVersion=${base}`);
    expect((await erase('3')).json).toMatchObject({ code: 'edit-conflict', base: 3, version: 4, by: 'admin' });
    expect(refusal(await erase('x'))).toMatchObject({ code: 'invalid-request' });
    expect(await texts(path)).toContain('In inches.');
    expect((await erase('4')).status).toBe(200);
  });

  test('are added once for each key', async () => {
    const add = () => api.post(path, { text: 'Once.' }, { headers: { 'idempotency-key': 'k' } });
    const [one, two] = await Promise.all([add(), add()]);
    expect(two.json).toEqual(one.json);
    expect(await texts(path)).toEqual(['Once.']);
  });

  test('are read with the scope read, and written with write', async () => {
    const note = noteIn(await api.post(path, { text: 'Here.' }));
    const read = { token: await api.token('read') };
    expect((await api.get(path, read)).status).toBe(200);
    const operate = { token: await api.token('operate') };
    for (const answer of [
      await api.post(path, { text: 'x' }, operate),
      await api.post(`${path}/${note.id}`, { text: 'x' }, operate),
      await api.call('DELETE', `${path}/${note.id}`, operate),
    ]) {
      expect(refusal(answer)).toMatchObject({ code: 'forbidden' });
    }
    expect(await texts(path)).toEqual(['Here.']);
  });

  test.each([
    ['without a text', {}],
    ['with an empty one', { text: '' }],
    ['with a NUL', { text: 'a\0b' }],
    ['too long', { text: 'x'.repeat(8193) }],
    ['with a tag that closes a frame', { text: 'x', tags: ['[end note_1]'] }],
    ['with nine tags', { text: 'x', tags: Array.from({ length: 9 }, (_tag, at) => `t${at}`) }],
  ])('are refused %s', async (_how, body) => {
    expect(refusal(await api.post(path, body))).toMatchObject({ code: 'invalid-request' });
    expect(await texts(path)).toEqual([]);
  });

  test.each([
    ['a quotation mark', '"'],
    ['a NUL', '%00'],
    ['marks', '***'],
    ['more than a query has', 'a'.repeat(401)],
  ])('are not searched for %s', async (_what, q) => {
    expect(refusal(await api.get(`${path}?q=${q}`))).toMatchObject({ code: 'invalid-request' });
  });
});

test('notes of a profile are for tokens of the whole cell', async () => {
  const one = { token: await api.token('admin', 'team') };
  expect(refusal(await api.get(akari, one))).toMatchObject({ code: 'forbidden' });
  expect((await api.get(ada, one)).status).toBe(200);
});

test('who changed notes is on the record, without their texts', async () => {
  for (const path of [ada, akari]) {
    const { id } = noteIn(await api.post(path, { text: 'hunter2needle' }));
    await api.post(`${path}/${id}`, { text: 'hunter2needle again' });
    await api.call('DELETE', `${path}/${id}`);
  }
  const answer = await api.get('/api/acts?limit=20');
  const { items } = actListAnswer.parse(answer.json);
  const acts = items.map(({ actor, type, subject, project }) => [actor, type, subject, project].join(' '));
  expect(acts).toEqual(
    expect.arrayContaining([
      'admin memory.noted ada team',
      'admin memory.edited ada team',
      'admin memory.forgotten ada team',
      'admin profile.noted Akari ',
      'admin profile.note-edited Akari ',
      'admin profile.note-forgotten Akari ',
    ]),
  );
  expect(answer.text).not.toContain('hunter2needle');
});

test('copies of a redacted message go from notes of agents and of profiles', async () => {
  const secret = 'The password of the gauge is hunter2needle.';
  await api.post('/api/projects/team/messages', { recipient: 'ada', body: secret });
  await api.post(ada, { text: `Told: ${secret}` });
  const { id } = api.cell.catalog.profiles.get('Akari');
  const note = { id: 'note_1', text: secret, tags: [], author: 'ada', project: 'team', turn: 'ada:1' };
  await api.cell.catalog.profileNotes.carry('team', [{ seq: 1, epoch: 1, profile: id, change: { note, atMs: 1 } }]);
  redactedAnswer.parse((await api.post('/api/projects/team/messages/1/redact', {})).json);
  expect(await texts(ada)).toEqual(['Told: [redacted]']);
  expect(await texts(akari)).toEqual(['[redacted]']);
  expect(await texts(`${akari}?q=hunter2needle`)).toEqual([]);
});

test("an agent's summaries stay where they were", async () => {
  expect(await api.get('/api/projects/team/agents/ada/memory')).toMatchObject({ status: 200, json: { items: [] } });
});
