import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { defaultPolicy } from '@suzumio/core/policy/policy';
import { manifestBytes } from '@suzumio/protocol/workspace-manifest';
import { ContentStore } from '@suzumio/store/content/content-store';
import { cancelActiveTurn } from '@suzumio/store/turns/cancel-turn';
import { type Answer, claimId, type ToolhostBench, toolhostBench } from './toolhost-client.js';

const yaml = `
name: lab
task: Mend it.
tools: { toolpacks: [files] }
backend:
  docker:
    mounts: [{ source: /srv/readings, target: /readings }]
  runner: { mode: mock }
agents:
  dev: { role: developer, prompt: Mend., tools: ["file.*"] }
  boss: { role: boss, prompt: Lead., tools: [messages.send] }
  near: { role: developer, prompt: Mend., tools: ["file.*"], backend: process }
`;

const project = 'lab';
let bench: ToolhostBench;
beforeEach(async () => {
  const mounts = { roots: [{ path: '/srv', readonly: true }] };
  bench = await toolhostBench({ policy: { ...defaultPolicy, backends: ['docker', 'process'], mounts } });
  await bench.testing.create(yaml);
});
afterEach(() => bench.close());

const claim = (turn: string, more: object = {}): Promise<Answer> =>
  bench.post(`${bench.toolhost.workerUrl}/projects/${project}/turns/${turn}/claim`, bench.workerToken, {
    claimId: claimId(),
    worker: 'w1',
    engine: 'test',
    protocol: 2,
    ...more,
  });
const promptIn = ({ body }: Answer) => (body as { input?: { turn: { prompt: string } } }).input?.turn.prompt;

async function workspaceOf(agent: string, bytes: Uint8Array): Promise<string> {
  const snapshot = await new ContentStore(bench.testing.cell.directory.projectDir(project)).putBytes(bytes);
  await bench.testing.write(project, (tx) =>
    tx.run('UPDATE agents SET snapshot = :snapshot WHERE id = :agent', { agent, snapshot }),
  );
  return snapshot;
}

const file = (name: string, sizeBytes = 3) =>
  ({ kind: 'file', name, sha256: 'a'.repeat(64), sizeBytes, executable: false }) as const;

describe('the prompt of an agent with tools of the sandbox', () => {
  test('lists the top of its workspace, once and for all attempts', async () => {
    const turn = await bench.queueTurn(project, 'dev');
    expect(promptIn(await claim(await bench.queueTurn(project, 'near')))).toContain('# Workspace: empty\n');
    await workspaceOf('dev', manifestBytes([file('a.py'), { kind: 'directory', name: 'src', sha256: 'b'.repeat(64) }]));
    const prompt = promptIn(await claim(turn));
    expect(prompt).toContain('# Workspace: 2 entries\n  src/\n  a.py, 3 bytes\n');
  });

  test('says so where too much is there, and nothing where the manifest is gone or is none', async () => {
    const names = Array.from({ length: 3_000 }, (_, n) => `f${String(n).padStart(5, '0')}`);
    await workspaceOf('dev', manifestBytes(names.map((name) => file(name))));
    expect(promptIn(await claim(await bench.queueTurn(project, 'dev')))).toContain(
      '# Workspace: more entries than are listed here\n',
    );
    await workspaceOf('near', Buffer.from('none'));
    expect(promptIn(await claim(await bench.queueTurn(project, 'near')))).not.toContain('# Workspace');
    expect(bench.logs()).toContainEqual(
      expect.objectContaining({ msg: 'a prompt cannot tell what is in a workspace' }),
    );
  });

  test('tells the sizes of mounts, which its worker is asked for first', async () => {
    const turn = await bench.queueTurn(project, 'dev');
    const asked = await claim(turn, { mounts: 'unmeasured' });
    expect(asked).toMatchObject({
      status: 200,
      body: { measure: { backend: 'docker', sandbox: { mounts: [{ source: '/srv/readings', target: '/readings' }] } } },
    });
    expect(asked.body).not.toHaveProperty('attempt');
    expect(await bench.testing.rows(project, 'SELECT 1 FROM turn_attempts')).toEqual([]);
    const sizes = [
      { target: '/readings', files: 2, bytes: 70, more: false },
      { target: '/other', files: 1, bytes: 1, more: false },
    ];
    expect(promptIn(await claim(turn, { mounts: sizes }))).toContain(
      '# Directories\n/readings, read-only, 2 files of 70 bytes\n\n',
    );
  });

  test('is as it was for workers that do not measure, and where nothing could be measured', async () => {
    for (const more of [{}, { mounts: [] }]) {
      const turn = await bench.queueTurn(project, 'dev');
      expect(promptIn(await claim(turn, more))).toContain('# Directories\n/readings, read-only\n\n');
      await bench.testing.write(project, (tx) => cancelActiveTurn(tx, turn, 'test'));
    }
  });
});

test('an agent without such tools is told nothing of them, and its worker is not asked', async () => {
  await workspaceOf('boss', manifestBytes([file('a.py')]));
  const prompt = promptIn(await claim(await bench.queueTurn(project, 'boss'), { mounts: 'unmeasured' }));
  expect(prompt).not.toContain('# Workspace');
  expect(prompt).toContain('# Directories\n/readings, read-only\n\n');
});

test('an agent that runs as a process has no mounts, and is told of none', async () => {
  const claimed = await claim(await bench.queueTurn(project, 'near'), { mounts: 'unmeasured' });
  expect(claimed).toMatchObject({
    body: { attempt: 1, sandbox: { mounts: [] }, input: { sandbox: { mounts: [] } } },
  });
  expect(promptIn(claimed)).not.toContain('# Directories');
});
