import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { anyBackend, type CliWorld, createCliWorld } from '../cli/test/support/cli.js';
import { eventually } from './support/poll.js';
import { docker } from './support/images.js';

let world: CliWorld;
beforeAll(async () => {
  world = await createCliWorld({ policy: anyBackend });
});
afterAll(() => world.remove());

/** An agent in a container, with what the file gives it. */
const survey = `
name: survey
task: Look at the readings.
backend:
  docker:
    keep: never
    mounts:
      - { source: readings, target: /readings, description: Levels of the river }
  runner:
    mode: mock
    script:
      - agent: sealed
        steps:
          - run: { command: "cat /readings/north.csv && echo $GAUGE > /reports/found.txt" }
          - run: { command: "touch /readings/x 2> /dev/null || echo read-only" }
          - run: { command: "ls /sys/class/net" }
          - { tool: messages.send, input: { recipient: user, body: "{{steps.0.output}} {{steps.1.output}} {{steps.2.output}}" } }
agents:
  sealed:
    role: surveyor
    prompt: Look.
    tools: [messages.send]
    env: { GAUGE: north }
    mounts: [{ source: reports, target: /reports, readonly: false }]
`;

/** Two agents that tell their variable, one in a container and one as a process. */
const mixed = `
name: mixed
task: Tell.
backend:
  docker: { keep: never }
  runner:
    mode: mock
    script:
      - agent: sealed
        steps: [{ run: { command: echo $GAUGE > told.txt } }, { tool: artifacts.publish, input: { path: told.txt } }]
      - agent: loose
        steps: [{ run: { command: echo $GAUGE > told.txt } }, { tool: artifacts.publish, input: { path: told.txt } }]
agents:
  sealed: { role: teller, prompt: Tell., tools: ["artifacts.*"], env: { GAUGE: north } }
  loose: { role: teller, prompt: Tell., tools: ["artifacts.*"], env: { GAUGE: southern }, backend: process }
`;

test('agents of a file of my own get its directories and variables, also when it is served later', async () => {
  await mkdir(join(world.directory, 'readings'));
  await mkdir(join(world.directory, 'reports'));
  // Containers run as somebody else than this test may.
  await chmod(join(world.directory, 'reports'), 0o777);
  await writeFile(join(world.directory, 'readings/north.csv'), '212\n');
  const made = await world.run('init', await world.write('survey.yaml', survey));
  const allowed = `mounts from ${world.directory}, writing to ${join(world.directory, 'reports')}.`;
  expect(made).toMatchObject({ code: 0, out: expect.stringContaining(allowed) });

  const server = await world.serve();
  await world.run('start', 'survey');
  await world.run('send', 'survey', 'sealed', 'P1', 'Go.');
  const bodies = async (project: string) => {
    const { out } = await world.run('messages', project, '--json');
    const messages = JSON.parse(out) as { sender: string; body: string }[];
    return messages.filter(({ sender }) => sender !== 'user').map(({ body }) => body.trim().split(/\s+/));
  };
  await eventually('the agent has answered', async () => (await bodies('survey')).length > 0);
  expect(await bodies('survey')).toEqual([['212', 'read-only', 'lo']]);
  expect(await readFile(join(world.directory, 'reports/found.txt'), 'utf8')).toBe('north\n');
  const shown = await world.run('turns', 'show', 'survey', 'sealed:1');
  expect(shown.out).toContain('/readings, read-only: Levels of the river');
  expect(shown.out).toContain('/reports, writable');

  expect((await server.stop()).code).toBe(0);
});

test('agents of one project work in the backends that they name', async () => {
  const up = world.begin('up', await world.write('mixed.yaml', mixed), '--port', '0');
  await eventually('it serves', () => up.out.includes('next: '));
  expect(up.out).toContain('Turns of loose run as processes of this machine, without any isolation');
  await world.run('send', 'mixed', 'sealed', 'P1', 'Go.');
  await world.run('send', 'mixed', 'loose', 'P1', 'Go.');
  for (const [agent, backend] of [
    ['sealed', 'docker'],
    ['loose', 'process'],
  ] as const) {
    await eventually(`${agent} works`, () => new RegExp(`${agent} .*started .*\\(${backend}`).test(up.out));
    await eventually(`${agent} is done`, () => new RegExp(`${agent} .*turn 1 done`).test(up.out));
  }
  expect((await up.stop()).code).toBe(0);
});

test('no container is left', async () => {
  const cell = (await readFile(join(world.root, 'cell.id'), 'utf8')).trim();
  expect(await docker('ps', '--all', '--quiet', '--filter', `label=suzumio.cell=${cell}`)).toBe('');
});
