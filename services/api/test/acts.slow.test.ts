import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { actListAnswer } from '@suzumio/contract/operations/acts';
import { forgetNoteOfAgent, noteForAgent } from '@suzumio/store/memory/agent-notes';
import { turnRow } from '@suzumio/store/rows';
import { noon, teamYaml } from '../../../test/support/cell.js';
import { type TestApi, testApi } from './support/api.js';
import { beginTurn, failTurn, submit } from './support/play.js';
import { refusal } from './support/refusal.js';

let api: TestApi;
beforeEach(async () => {
  api = await testApi({}, undefined, { startMs: noon });
});
afterEach(() => api.close());

const acts = async (query = '', token?: string) =>
  actListAnswer.parse((await api.get(`/api/acts${query}`, token === undefined ? {} : { token })).json);
const said = ({ items }: Awaited<ReturnType<typeof acts>>) =>
  items.map(({ actor, type, project, subject }) =>
    [actor, type, project, subject].filter((part) => part !== null).join(' '),
  );

let at = noon;
async function done(act: Promise<{ status: number }>): Promise<void> {
  expect((await act).status).toBeLessThan(300);
  at += 60_000;
  api.setNow(at);
}

/** What people do in a day, and what agents and the system do beside. */
async function aDay(): Promise<string> {
  await api.create(teamYaml.replace('name: team', 'name: north'));
  await api.create(teamYaml.replace('name: team', 'name: south'));
  api.setNow((at += 60_000));
  const write = await api.token('write');
  await failTurn(api, 'north', 'ben');
  await done(api.post('/api/projects/north/agents/ben/retry', undefined, { token: write }));
  await done(api.post('/api/projects/north/pause', { reason: 'It is night.' }, { token: write }));
  await done(api.post('/api/tokens', { name: 'ci', scope: 'read' }));
  await submit(api, 'south', 'ada', 'The level is 3 m.');
  await done(api.post('/api/projects/south/approve', {}));
  await done(api.call('DELETE', '/api/projects/south'));
  await done(api.call('DELETE', '/api/tokens/ci'));
  await done(api.post('/api/pause', {}));
  return write;
}

test('who did what is told from all projects and the cell, the newest first, and no turn or mail', async () => {
  await aDay();
  const all = said(await acts());
  expect(all.slice(0, 6)).toEqual([
    'admin cell.paused',
    'admin token.revoked ci',
    'admin project.deleted south',
    'admin token.created ci',
    'write-1 project.paused north',
    'write-1 turn.queued north ben',
  ]);
  expect(all.slice(6)).toEqual(expect.arrayContaining(['test project.initialized north']));
  expect(all.some((line) => line.startsWith('system') || line.startsWith('ada'))).toBe(false);
  expect(said(await acts('?actor=write-1'))).toEqual(['write-1 project.paused north', 'write-1 turn.queued north ben']);
});

test('parts go back to the first of it, and nothing is told twice', async () => {
  await aDay();
  const all = said(await acts());
  const found: string[] = [];
  let before: string | undefined;
  for (let parts = 0; parts < 50; parts += 1) {
    const part = await acts(`?limit=2${before === undefined ? '' : `&before=${before}`}`);
    found.push(...said(part));
    before = part.previous;
    if (before === undefined) break;
  }
  expect(found).toEqual(all);
});

test('whoever may read one project is told of that alone, and of the cell only who manages it', async () => {
  const write = await aDay();
  expect(said(await acts('', write)).some((line) => /token|cell|deleted/.test(line))).toBe(false);
  const own = await api.token('read', 'north');
  expect(new Set((await acts('', own)).items.map(({ project }) => project))).toEqual(new Set(['north']));
  await api.create(teamYaml.replace('name: team', 'name: west'));
  expect(refusal(await api.get('/api/acts?project=west', { token: own })).code).toBe('forbidden');
  expect(refusal(await api.get('/api/acts?before=yesterday')).code).toBe('invalid-request');
});

test('what was done is no refusal', async () => {
  await aDay();
  expect((await api.get('/api/audit')).json).toMatchObject({ items: [] });
});

test('notes are among it that people wrote, and none that an agent has written or erased in its turn', async () => {
  await api.create();
  const { turn } = await beginTurn(api, 'team', 'ada');
  await api.write('team', (tx) => {
    const by = { turn: turnRow(tx, turn) };
    const { id } = noteForAgent(tx, 'ada', { text: 'Levels in feet.', tags: [] }, by);
    forgetNoteOfAgent(tx, 'ada', id, by);
  });
  await done(api.post('/api/projects/team/agents/ada/notes', { text: 'Levels in metres.' }));
  expect(said(await acts()).filter((line) => line.includes('memory.'))).toEqual(['admin memory.noted team ada']);
});
