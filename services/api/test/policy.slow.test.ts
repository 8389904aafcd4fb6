import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { auditAnswer } from '@suzumio/contract/operations/tokens';
import { defaultPolicy } from '@suzumio/core/policy/policy';
import { type TestApi, testApi } from './support/api.js';
import { refusal } from './support/refusal.js';

let api: TestApi;
let write: string;
beforeAll(async () => {
  api = await testApi();
  write = await api.token('write');
});
afterAll(() => api.close());

const project = (backend: string, agent = '') => `name: greedy
task: Take what is there.
backend: { runner: { mode: mock }${backend === '' ? '' : `, ${backend}`} }
agents:
  mole: { role: mole, prompt: Dig.${agent === '' ? '' : `, ${agent}`} }
`;

const provider = (baseURL: string, apiKeyEnv: string) =>
  project('').replace(
    'mode: mock',
    `mode: ai, models: { providers: { p: { type: openai-compatible, baseURL: "${baseURL}", apiKeyEnv: ${apiKeyEnv} } } }`,
  );

const denied: [string, string, string, string][] = [
  ['the whole disk', project('docker: { mounts: [{ source: /, target: /host }] }'), 'mounts[0].source', 'protected'],
  [
    "the engine's socket",
    project('docker: { mounts: [{ source: /var/run/docker.sock, target: /d.sock }] }'),
    'mounts[0].source',
    'protected',
  ],
  ['what holds the socket', project('', 'mounts: [{ source: /run, target: /d }]'), 'mounts[0].source', 'protected'],
  ['any directory', project('', 'mounts: [{ source: /srv, target: /d }]'), 'mounts[0].source', 'mounts.roots'],
  ["the host's network", project('docker: { network: host }'), 'backend.docker.network', 'networks'],
  ['a network', project('docker: { network: bridge }'), 'backend.docker.network', 'networks'],
  ['root', project('docker: { user: "0:0" }'), 'backend.docker.user', 'root'],
  ['root by its number alone', project('docker: { user: 0 }'), 'backend.docker.user', 'root'],
  ['root by its name', project('docker: { user: root }'), 'backend.docker.user', 'root'],
  ['no isolation', project('kind: process'), 'backend.kind', 'backends'],
  ['no isolation for an agent', project('', 'backend: process'), 'agents.mole.backend', 'backends'],
  ['another image', project('image: redis:7'), 'backend.image', 'images'],
  ['a runtime', project('docker: { runtime: sysbox }'), 'backend.docker.runtime', 'runtimes'],
  ['too much memory', project('docker: { memory: 900g }'), 'backend.docker.memory', 'ceilings.memory'],
  ['a loader', project('', 'env: { LD_PRELOAD: /x.so }'), 'agents.mole.env.LD_PRELOAD', 'env.forbidden'],
  [
    'a key for a foreign place',
    provider('https://evil.example/v1', 'PATH'),
    'backend.runner.models.providers.p.baseURL',
    'providers',
  ],
];

describe('a posted file', () => {
  test.each(denied)('does not get %s', async (_what, file, field, rule) => {
    const answer = await api.post('/api/projects', { file, start: true }, { token: write });
    expect(refusal(answer)).toMatchObject({ status: 403, code: 'policy-denied' });
    const { detail } = refusal(answer);
    expect(detail).toMatch(/^file:\d+:\d+ {2}/);
    expect(detail).toContain(`${field}: `);
    expect(detail).toContain(`(policy: ${rule})`);
    expect(answer.json).toMatchObject({ rules: [rule] });
    expect(api.cell.catalog.projects.all()).toEqual([]);
  });

  test("is not told what this machine's variables hold", async () => {
    const answer = await api.post(
      '/api/projects',
      { file: project('docker: { mounts: [{ source: "${HOME}", target: /home }] }') },
      { token: write },
    );
    expect(refusal(answer)).toMatchObject({ status: 422, code: 'invalid-config' });
    expect(answer.text).not.toContain(String(process.env.HOME));
  });

  test('is told of everything at once, each at its place', async () => {
    const file = project('docker: { network: host, user: root }', 'env: { SUZUMIO_TURN_DIR: /x }');
    const { detail } = refusal(await api.post('/api/projects', { file }, { token: write }));
    expect(detail.split('\n').map((line) => /^file:(\d+):\d+ {2}([^:]+):/.exec(line)?.slice(1))).toEqual([
      ['3', 'backend.docker.network'],
      ['3', 'backend.docker.user'],
      ['5', 'agents.mole.env.SUZUMIO_TURN_DIR'],
    ]);
  });

  test('that is refused leaves a row with who posted it', async () => {
    await api.post('/api/projects', { file: project('docker: { network: host }') }, { token: write });
    const { items } = auditAnswer.parse((await api.get('/api/audit')).json);
    expect(items).toContainEqual(
      expect.objectContaining({ method: 'POST', route: '/api/projects', code: 'policy-denied' }),
    );
  });

  test('gets what the policy allows', async () => {
    const open = await testApi({
      policy: { ...defaultPolicy, networks: ['none', 'bridge'], images: ['team/*'], backends: ['docker', 'process'] },
    });
    try {
      const file = project('image: team/runner:1, docker: { network: bridge }', 'backend: docker');
      expect(await open.post('/api/projects', { file })).toMatchObject({ status: 201 });
    } finally {
      await open.close();
    }
  });
});

describe('the policy itself', () => {
  test('is told to administrators of the cell, without secrets', async () => {
    const mcpUrls = ['https://ann:s3cret@tools.example/sse'];
    const toolpacks = { ...defaultPolicy.toolpacks, mcpUrls };
    const own = await testApi({ policy: { ...defaultPolicy, networks: ['none', 'bridge'], toolpacks } });
    try {
      const { status, json, text } = await own.get('/api/policy');
      expect([status, json]).toMatchObject([200, { policy: { networks: ['none', 'bridge'], git: [] } }]);
      expect(text).not.toContain('s3cret');
    } finally {
      await own.close();
    }
  });

  test('is refused to all others', async () => {
    await api.create();
    for (const token of [write, await api.token('admin', 'team')]) {
      expect(refusal(await api.get('/api/policy', { token }))).toMatchObject({ status: 403, code: 'forbidden' });
    }
  });
});
