import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { actListAnswer } from '@suzumio/contract/operations/acts';
import { noteAnswer, noteListAnswer, noteRecordAnswer } from '@suzumio/contract/operations/memory';
import { redactedAnswer } from '@suzumio/contract/operations/messages';
import { renderNote } from '@suzumio/core/prompt/notes';
import { loadProjectText } from '@suzumio/core/profiles/load-project';
import { startProject } from '@suzumio/store/projects/project-transitions';
import { noteForAgent } from '@suzumio/store/memory/agent-notes';
import { noteForProfile } from '@suzumio/store/memory/profile-changes';
import { carryProfileChanges } from '@suzumio/store/cell/carry-profile-changes';
import { ReadOnlyCell } from '@suzumio/store/cell/read-only-cell';
import { verifyProject } from '@suzumio/store/cell/verify';
import { turnRow } from '@suzumio/store/rows';
import { type TestApi, testApi } from './support/api.js';
import { playCall } from './support/play.js';
import { refusal } from './support/refusal.js';

let api: TestApi;
let profile: string;
beforeEach(async () => {
  api = await testApi();
  await api.post('/api/profiles', { nickname: 'Akari', role: 'reader', persona: 'Read.' });
  profile = api.cell.catalog.profiles.get('Akari').id;
  for (const name of ['one', 'two', 'three']) await make(name);
});
afterEach(() => api.close());

const secret = 'The password of the gauge is hunter2needle.';
const akari = '/api/profiles/Akari/notes';
const ada = '/api/projects/one/agents/ada/notes';
const because = 'It held a password.';

async function make(name: string): Promise<void> {
  const yaml = `
name: ${name}
task: Find out.
backend: { runner: { mode: mock } }
tools: { toolpacks: [memory] }
agents:
  seeker: { profile: Akari, tools: ["*"] }
  ada: { role: writer, prompt: Write., tools: ["memory.*"] }
`;
  const { cell } = api;
  const { config } = loadProjectText(yaml, 'test.yaml', { profiles: cell.catalog.profiles });
  await cell.createProject({ config, source: yaml, actor: 'test' });
  await cell.catalog.projects.noteRunning(name);
  await api.write(name, (tx) => startProject(tx, 'test'));
}

/** The files of the data directory that hold a text. */
async function filesWith(text: string): Promise<string[]> {
  const names = await readdir(api.root, { recursive: true, withFileTypes: true });
  const files = names.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const found = await Promise.all(files.map(async (file) => ((await readFile(file)).includes(text) ? file : [])));
  return found.flat();
}

/** A turn in which an agent notes something; returns the note. */
async function notes(project: string, agent: string, text: string): Promise<string> {
  let id = '';
  const scope = agent === 'ada' ? 'agent' : 'profile';
  await playCall(api, project, agent, { tool: 'memory.note', input: { text, tags: [], scope } }, (tx, site) => {
    const turn = turnRow(tx, site.turn);
    id =
      scope === 'agent'
        ? noteForAgent(tx, agent, { text, tags: [] }, { turn }).id
        : noteForProfile(tx, profile, { text, tags: [] }, turn);
    return { output: `Noted as ${id}.`, metadata: { note: id, scope } };
  });
  return id;
}

/** A turn in which an agent is shown a note of its profile. */
async function shows(project: string, id: string): Promise<void> {
  const note = api.cell.catalog.profileNotes.get('Akari', id);
  await playCall(api, project, 'seeker', { tool: 'memory.search', input: { query: 'gauge' } }, () => ({
    output: renderNote(note, 'profile'),
    metadata: { notes: [{ ...note, scope: 'profile' }] },
  }));
}
const record = async (path: string) => noteRecordAnswer.parse((await api.get(`${path}/record`)).json);
const flaws = async () =>
  (await Promise.all(['one', 'two', 'three'].map((id) => verifyProject(new ReadOnlyCell(api.root), id)))).flatMap(
    (verified) => verified.flaws,
  );
const events = (project: string) =>
  api.rows(project, `SELECT actor, agent_id, data_json FROM events WHERE type = 'memory.redacted'`);

describe('redacting a note of an agent', () => {
  test.each([
    ['that is there', false],
    ['that was erased', true],
  ])('%s removes it from what was recorded, and says who, when and why', async (_how, erased) => {
    const id = await notes('one', 'ada', secret);
    if (erased) await api.call('DELETE', `${ada}/${id}`);
    expect(await filesWith('hunter2needle')).not.toEqual([]);
    expect(await record(`${ada}/${id}`)).toEqual({ id, versions: [{ text: secret, tags: [] }], redacted: null });
    const key = { headers: { 'idempotency-key': 'gone' } };
    const redact = () => api.post(`${ada}/${id}/redact`, { because }, key);
    const [one, another] = await Promise.all([redact(), redact()]);
    const answer = redactedAnswer.parse(one.json);
    expect(answer).toMatchObject({ id, redacted: { by: 'admin', because }, left: [] });
    expect(another.json).toEqual(answer);
    expect((await api.post(`${ada}/${id}/redact`, { because: 'Again.' })).json).toEqual(answer);
    expect(await filesWith('hunter2needle')).toEqual([]);
    expect(await record(`${ada}/${id}`)).toEqual({ id, versions: [], redacted: answer.redacted });
    expect(refusal(await api.get(`${ada}/${id}`)).code).toBe('note-unknown');
    expect(await events('one')).toEqual([
      { actor: 'admin', agent_id: 'ada', data_json: JSON.stringify({ note: id, because }) },
    ]);
    expect(await flaws()).toEqual([]);
    const acts = actListAnswer.parse((await api.get('/api/acts?limit=20')).json).items;
    expect(acts).toContainEqual(
      expect.objectContaining({ actor: 'admin', type: 'memory.redacted', subject: 'ada', project: 'one' }),
    );
  });

  test('that a person wrote removes what answers to repeated requests tell', async () => {
    const key = { headers: { 'idempotency-key': 'k' } };
    const { note } = noteAnswer.parse((await api.post(ada, { text: secret, tags: ['hunter2needle'] }, key)).json);
    await api.post(`${ada}/${note.id}`, { text: 'Other.', tags: [] });
    expect((await record(`${ada}/${note.id}`)).versions.map(({ text }) => text).toSorted()).toEqual(['Other.', secret]);
    await api.post(`${ada}/${note.id}/redact`);
    expect(await filesWith('hunter2needle')).toEqual([]);
  });
});

describe('redacting a note of a profile', () => {
  test.each([
    ['that is there', false],
    ['that was erased', true],
  ])('%s removes it from the catalog and from each project that wrote it or was shown it', async (_how, erased) => {
    const id = await notes('one', 'seeker', secret);
    await api.store('one', (store) => carryProfileChanges(api.cell.catalog, store));
    await api.post(akari, { text: 'The gauge was moved.' });
    await shows('two', id);
    await api.post(`${akari}/${id}`, { text: `${secret} It was.` });
    await shows('two', id);
    if (erased) await api.call('DELETE', `${akari}/${id}`);
    expect(await record(`${akari}/${id}`)).toMatchObject({
      versions: expect.arrayContaining([
        { text: secret, tags: [] },
        { text: `${secret} It was.`, tags: [] },
      ]),
      redacted: null,
    });

    const answer = redactedAnswer.parse((await api.post(`${akari}/${id}/redact`, { because })).json);
    expect(answer).toMatchObject({ id, redacted: { by: 'admin', because }, left: [] });
    expect(await filesWith('hunter2needle')).toEqual([]);
    for (const project of ['one', 'two']) {
      const data = { note: id, profile, because };
      expect(await events(project)).toEqual([{ actor: 'admin', agent_id: null, data_json: JSON.stringify(data) }]);
    }
    expect(await events('three')).toEqual([]);
    const { items } = noteListAnswer.parse((await api.get(akari)).json);
    expect(items.map(({ text }) => text)).toEqual(['The gauge was moved.']);
    expect(noteListAnswer.parse((await api.get(`${akari}?q=hunter2needle`)).json).items).toEqual([]);
    expect(await flaws()).toEqual([]);
    const acts = actListAnswer.parse((await api.get('/api/acts?limit=20')).json).items;
    expect(acts).toContainEqual(
      expect.objectContaining({ actor: 'admin', type: 'profile.note-redacted', subject: 'Akari', project: null }),
    );
    const again = redactedAnswer.parse((await api.post(`${akari}/${id}/redact`)).json);
    expect(again.redacted).toMatchObject({ because });
    expect(await record(`${akari}/${id}`)).toMatchObject({ versions: [], redacted: { because } });
  });

  test('that is on its way to the catalog does not come back', async () => {
    const id = await notes('one', 'seeker', secret);
    expect(await record(`${akari}/${id}`)).toMatchObject({ versions: [{ text: secret }] });
    await api.post(`${akari}/${id}/redact`, { because });
    expect(await api.rows('one', 'SELECT * FROM profile_changes')).toEqual([]);
    expect(noteListAnswer.parse((await api.get(akari)).json).items).toEqual([]);
    expect(await filesWith('hunter2needle')).toEqual([]);
  });

  test.each([
    ['that a person wrote', false],
    ['that a person wrote and erased', true],
  ])('%s, and no project knows, removes it from the catalog', async (_how, erased) => {
    const key = { headers: { 'idempotency-key': 'k' } };
    const { note } = noteAnswer.parse((await api.post(akari, { text: secret }, key)).json);
    await api.post(`${akari}/${note.id}`, { text: `${secret} Still.` });
    if (erased) await api.call('DELETE', `${akari}/${note.id}`);
    expect((await record(`${akari}/${note.id}`)).versions).toContainEqual({ text: secret, tags: [] });
    expect(redactedAnswer.parse((await api.post(`${akari}/${note.id}/redact`)).json).left).toEqual([]);
    expect(await filesWith('hunter2needle')).toEqual([]);
    expect(refusal(await api.post(`${akari}/${note.id}/redact`)).code).toBe('note-unknown');
  });

  test('says which projects cannot be read', async () => {
    const id = await notes('one', 'seeker', secret);
    const use = api.cell.stores.use.bind(api.cell.stores);
    const broken = new SuzumioError('store-corrupt', 'It cannot be read.');
    jest.spyOn(api.cell.stores, 'use').mockImplementation((project, body) => {
      return project === 'three' ? Promise.reject(broken) : use(project, body);
    });
    const { left } = redactedAnswer.parse((await api.post(`${akari}/${id}/redact`)).json);
    expect(left).toEqual([{ what: 'projects', detail: expect.stringMatching(/^three was not searched: /) }]);
  });
});

test('an operation is for its owner and its scope', async () => {
  const [own, shared] = [await notes('one', 'ada', secret), await notes('one', 'seeker', secret)];
  const unknown = [
    `${akari}/${own}`,
    `${ada}/${shared}`,
    `/api/projects/one/agents/seeker/notes/${own}`,
    `/api/projects/two/agents/ada/notes/${own}`,
    `${ada}/note_1`,
    `${akari}/note_1`,
  ];
  for (const path of unknown) {
    expect(refusal(await api.post(`${path}/redact`)).code).toBe('note-unknown');
    expect(refusal(await api.get(`${path}/record`)).code).toBe('note-unknown');
  }
  const write = { token: await api.token('write') };
  const ofProject = { token: await api.token('admin', 'one') };
  expect(refusal(await api.post(`${ada}/${own}/redact`, {}, write)).code).toBe('forbidden');
  expect(refusal(await api.post(`${akari}/${shared}/redact`, {}, ofProject)).code).toBe('forbidden');
  expect(refusal(await api.get(`${akari}/${shared}/record`, ofProject)).code).toBe('forbidden');
  expect(await filesWith('hunter2needle')).not.toEqual([]);
  expect((await api.post(`${ada}/${own}/redact`, {}, ofProject)).status).toBe(200);
});
