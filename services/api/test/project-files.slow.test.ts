import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { checkProjectFileAnswer, exampleListAnswer } from '@suzumio/contract/operations/project-files';
import { defaultPolicy } from '@suzumio/core/policy/policy';
import { teamYaml } from '../../../test/support/cell.js';
import { type TestApi, testApi } from './support/api.js';
import { refusal } from './support/refusal.js';

let api: TestApi;
beforeAll(async () => {
  api = await testApi();
});
afterAll(() => api.close());

const named = (name: string, extra = '') => teamYaml.replace('name: team', `name: ${name}`) + extra;
const check = async (file: string) =>
  checkProjectFileAnswer.parse((await api.post('/api/project-files/check', { file })).json);

describe('checking a file', () => {
  test('says what the project would be, and makes none', async () => {
    const { problems, project } = await check(named('fine', 'budget: { usd: 2 }\n'));
    expect(problems).toEqual([]);
    expect(project).toMatchObject({
      name: 'fine',
      agentCount: 3,
      budget: { usd: 2 },
      image: 'suzumio-runner:dev',
      network: 'none',
      providers: [],
      directories: [],
    });
    expect(project?.agents[0]).toMatchObject({ id: 'ada', backend: 'docker', model: null });
    expect(api.cell.catalog.projects.all()).toEqual([]);
  });

  test('says where each problem is, and which field it is about', async () => {
    const { problems, project } = await check('name: Team\nagnets: {}\ntask: Do.\nagents:\n  ada: { prompt: 3 }\n');
    expect(project).toBeNull();
    expect(problems).toContainEqual(
      expect.objectContaining({ code: 'value-invalid', line: 1, column: 7, path: 'name' }),
    );
    expect(problems).toContainEqual({
      code: 'field-unknown',
      line: 2,
      column: 1,
      path: 'agnets',
      message: 'unknown field `agnets`: did you mean `agents`?',
    });
    expect((await check('name: [')).problems[0]).toMatchObject({ code: 'yaml-syntax', path: null });
  });

  test('says what the policy denies, what is not supported, and that the name is taken, all at once', async () => {
    await api.create(named('there'));
    const text = named(
      'there',
      'observability: { http: { enabled: false } }\nbudget: { turns: 1 }\ntools: { toolpacks: [{ id: own, mcp: { url: "https://t.example" } }] }\n',
    ).replace('backend: {', 'backend: { kind: process,');
    const { problems, notes, project } = await check(text);
    expect(notes).toMatchObject([{ code: 'key-without-effect', path: 'observability.http.enabled' }]);
    expect(problems.map(({ code }) => code).toSorted()).toEqual([
      'not-supported-yet',
      'policy-denied',
      'policy-denied',
      'project-exists',
    ]);
    expect(problems.find(({ code }) => code === 'policy-denied')).toMatchObject({ path: 'backend.kind' });
    expect(project).toMatchObject({ name: 'there', image: null });
  });

  test('says what the toolpacks of a file lack on this server, and so does making it', async () => {
    const pack = await mkdtemp(join(await realpath(tmpdir()), 'suzumio-pack-'));
    const allowing = await testApi({
      policy: { ...defaultPolicy, toolpacks: { ...defaultPolicy.toolpacks, directories: [pack] } },
    });
    try {
      const text = named('packed', `tools: { toolpacks: [{ id: own, path: ${pack} }] }\n`);
      const { json } = await allowing.post('/api/project-files/check', { file: text });
      const line = text.split('\n').length - 1;
      expect(json).toMatchObject({
        problems: [
          {
            code: 'toolpack-invalid',
            line,
            path: 'tools.toolpacks',
            message: expect.stringContaining('has no suzumio.toolpack.json'),
          },
        ],
      });
      expect(await allowing.post('/api/projects', { file: text })).toMatchObject({
        status: 422,
        json: { code: 'invalid-config' },
      });
      await writeFile(join(pack, 'suzumio.toolpack.json'), '{ "id": "own", "tools": [] }');
      expect((await allowing.post('/api/project-files/check', { file: text })).json).toMatchObject({ problems: [] });
      expect(await allowing.post('/api/projects', { file: text })).toMatchObject({ status: 201 });
    } finally {
      await allowing.close();
      await rm(pack, { recursive: true });
    }
  });

  test('says what a file of the published format has without effect, and so does making it', async () => {
    const text = named('published', 'communication: { pmRoutineVerifierPriority: P1 }\n');
    const line = text.split('\n').length - 1;
    const { problems, notes } = await check(text);
    expect(problems).toEqual([]);
    expect(notes.map((note) => [note.code, note.line, note.path])).toEqual([
      ['key-without-effect', 2, null],
      ['key-without-effect', line, 'communication.pmRoutineVerifierPriority'],
    ]);
    const { json } = await api.post('/api/projects', { file: text });
    expect((json as { notes: string[] }).notes).toEqual(
      notes.map((note) => `file:${note.line}:${note.column}  ${note.message}`),
    );
  });

  test('is for those who may create projects', async () => {
    const asked = { file: named('other') };
    for (const token of [await api.token('operate'), await api.token('write', 'there')]) {
      expect(refusal(await api.post('/api/project-files/check', asked, { token })).code).toBe('forbidden');
    }
  });
});

test('the schema has every field and no others', async () => {
  const { json } = await api.get('/api/project-files/schema');
  expect(json).toMatchObject({
    $schema: expect.stringContaining('json-schema.org'),
    required: ['name', 'task', 'agents'],
    additionalProperties: false,
  });
});

describe('the examples', () => {
  const list = async (from: TestApi = api) => exampleListAnswer.parse((await from.get('/api/examples')).json).items;

  test('that play a script in the usual image run here, and each is a file that needs no other', async () => {
    const items = await list();
    const free = items.filter(({ obstacles }) => obstacles.length === 0).map(({ id }) => id);
    expect(free).toEqual(['newsroom', 'research-team', 'mended-bug', 'csv-analyst']);
    const answer = await api.post('/api/projects', { file: items[0]?.file, message: items[0]?.mail, start: true });
    expect(answer.status).toBe(201);
    // The project has the example's files, although the policy allows no directory.
    expect(items[0]?.file).toContain('# Two reporters');
    expect((await list())[0]?.project).toBe('newsroom-2');
    const keptFrom = (which: string) => items.find(({ id }) => id === which)?.obstacles.join('\n');
    expect(keptFrom('bug-hunt')).toMatch(/\(policy: git\)/);
    expect(keptFrom('invoices')).toMatch(/\/examples\/invoices\/toolpack \(policy: toolpacks\.directories\)$/);
    expect(keptFrom('newsroom-ai')).toMatch(/\(policy: providers\)/);
  });

  test('are none where they are not installed, and whole where the directory has others', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'examples-'));
    await mkdir(join(directory, 'one'));
    await writeFile(
      join(directory, 'examples.json'),
      JSON.stringify([{ file: 'one/one.yaml', title: 'One', description: 'D' }]),
    );
    await writeFile(join(directory, 'one', 'one.yaml'), teamYaml);
    const other = await testApi({ examples: directory });
    try {
      expect(await list(other)).toMatchObject([{ id: 'one', project: 'team', agents: 3, mail: null, obstacles: [] }]);
    } finally {
      await other.close();
      await rm(directory, { recursive: true });
    }
  });
});
