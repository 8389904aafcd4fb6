import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from './support/poll.js';
import { openProject } from './support/project.js';
import { type Stack, startStack } from './support/stack.js';

const slots = 2;
const projects = 2;
const pairs = [1, 2, 3, 4, 5, 6];
const bench = (name: string) => fileURLToPath(new URL(`../bench/${name}`, import.meta.url));

const loud = `
name: loud
task: Pass the mail on.
protection: { exchanges: 1000000, sameMail: 1000000, emptyTurns: 1000000 }
backend: { runner: { mode: mock, script: [] } }
agents:
${pairs
  .flatMap((n) => [`ping-${String(n)}`, `pong-${String(n)}`])
  .map((agent) => `  ${agent}: { role: player, prompt: Play., tools: [messages.send] }`)
  .join('\n')}
`;

const quiet = `
name: quiet
task: Read the mail.
backend: { runner: { mode: mock, script: [] } }
agents: { ann: { role: reader, prompt: Read. } }
`;

describe('two projects, two schedulers and few slots', () => {
  let stack: Stack;

  beforeAll(async () => {
    stack = await startStack({
      schedulers: 2,
      slots,
      workerProgram: bench('noop-worker.ts'),
      nodeArguments: ['--import', bench('hooks.mjs')],
    });
  });
  afterAll(() => stack.stop());

  test('twelve agents that pass P0 mail do not keep a P1 turn of another project from its place', async () => {
    for (const file of [loud, quiet])
      expect(await stack.api('POST', '/projects', { file })).toMatchObject({ status: 201 });
    for (const name of ['loud', 'quiet'])
      expect(await stack.api('POST', `/projects/${name}/start`)).toMatchObject({ status: 200 });
    const busy = openProject(stack.root, 'loud');
    const other = openProject(stack.root, 'quiet');
    const starts = () => busy.get<{ n: number }>(`SELECT count(*) AS n FROM turn_attempts`)?.n ?? 0;
    try {
      for (const agent of pairs.flatMap((n) => [`ping-${String(n)}`, `pong-${String(n)}`])) {
        await send('loud', { recipient: agent, priority: 'P0', body: '1000000' });
      }
      for (let turn = 1; turn <= 5; turn += 1) {
        const before = starts();
        await eventually('the loud project is at work', () => starts() > before + 20);
        await send('quiet', { recipient: 'ann', priority: 'P1', body: 'Good morning.' });
        const ended = () => other.get(`SELECT 1 FROM turns WHERE number = ${String(turn)} AND status = 'completed'`);
        await eventually('the quiet project had its turn', () => ended() !== undefined);
      }
      const turns = other.all<{ queued: number; started: number }>(
        'SELECT queued_at_ms AS queued, started_at_ms AS started FROM turns ORDER BY number',
      );
      const passed = turns.map(({ queued, started }) =>
        busy.get<{ n: number }>(
          'SELECT count(*) AS n FROM turn_attempts WHERE started_at_ms > :queued AND started_at_ms < :started',
          { queued, started },
        ),
      );
      expect(passed.filter((row) => (row?.n ?? 0) > slots + projects)).toEqual([]);
    } finally {
      busy.close();
      other.close();
    }
  });

  async function send(project: string, message: { recipient: string; priority: string; body: string }): Promise<void> {
    const { status } = await stack.api('POST', `/projects/${project}/messages`, message);
    if (status !== 201) throw new Error(`a message was answered ${String(status)}`);
  }
});
