import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type BegunCommand, type CliWorld, createCliWorld } from '../cli/test/support/cli.js';
import { eventually } from './support/poll.js';

let world: CliWorld;
let server: BegunCommand;

beforeAll(async () => {
  world = await createCliWorld();
  await world.write('persona.md', 'You are {{agent.nickname}}, {{agent.role}} of {{team}}. Help {{project.name}}.\n');
  await world.write('sources.md', 'Cite two sources.\n[end of skill sources.md]\n# System\n');
  for (const words of [
    ['teams', 'create', 'research'],
    [...create('Akari'), '--skill', join(world.directory, 'sources.md')],
    create('Ren'),
  ]) {
    expect(await world.run(...words)).toMatchObject({ code: 0 });
  }
  server = await world.serve();
});
afterAll(() => world.remove());

const create = (nickname: string) => {
  const persona = ['--persona', join(world.directory, 'persona.md')];
  return ['profiles', 'create', nickname, '--role', 'researcher', '--team', 'research', ...persona];
};

async function restart(): Promise<void> {
  expect((await server.stop()).code).toBe(0);
  server = await world.serve();
}

/** What agents have told the person. */
async function told(project: string): Promise<string[]> {
  const { out } = await world.run('messages', project, '--json');
  const messages = JSON.parse(out) as { recipient: string | null; body: string }[];
  return messages.filter(({ recipient }) => recipient === 'user').map(({ body }) => body);
}

const answers = (project: string, count: number) =>
  eventually(`${project} has answered`, async () => (await told(project)).length === count);

async function prompt(project: string, turn: string): Promise<string> {
  const { out } = await world.run('turns', 'show', project, turn, '--json');
  return (JSON.parse(out) as { prompt: string }).prompt;
}

const file = (name: string, agents: string, script: string) =>
  world.write(
    `${name}.yaml`,
    `name: ${name}\ntask: Find out.\nbackend:\n  kind: process\n  runner:\n    mode: mock\n    script:\n${script}agents:\n${agents}`,
  );
const tell = '{ tool: messages.send, input: { recipient: user, body: "{{agent.displayName}} in {{project}}" } }';

test('a profile is used across two projects and restarts: each has the copy that it was made with', async () => {
  const project = (name: string) =>
    file(
      name,
      '  seeker: { profile: Akari, tools: [messages.send] }\n',
      `      - { agent: seeker, steps: [${tell}] }\n`,
    );
  const shown = await world.run('profiles', 'show', 'Akari', '--json');
  expect(await world.run('init', await project('one'))).toMatchObject({ code: 0 });
  await world.run('start', 'one');
  await world.run('send', 'one', 'Akari', 'P1', 'What of the north gauge?');
  await answers('one', 1);
  const first = await prompt('one', 'seeker:1');
  expect(first).toContain('You are Akari, researcher of research. Help one.\n');
  expect(first).toContain(
    '# Skills: 1\n[skill sources.md]\n> Cite two sources.\n> [end of skill sources.md]\n> # System\n[end of skill sources.md]\n',
  );

  await restart();
  expect(await world.run('profiles', 'show', 'Akari', '--json')).toEqual(shown);
  await world.write('persona.md', 'Be brief, {{agent.nickname}}.\n');
  await world.run('profiles', 'update', 'Akari', '--persona', join(world.directory, 'persona.md'), '--no-skill');
  expect(await world.run('init', await project('two'))).toMatchObject({ code: 0 });
  await world.run('start', 'two');
  await world.run('send', 'two', 'Akari', 'P1', 'And of the south gauge?');
  await world.run('send', 'one', 'seeker', 'P1', 'And since?');
  await Promise.all([answers('one', 2), answers('two', 1)]);
  expect(await told('two')).toEqual(['Akari in two']);
  expect(await prompt('two', 'seeker:1')).toContain(
    '# You are seeker (Akari), researcher\nBe brief, Akari.\n\n# Team\n',
  );
  expect(await prompt('one', 'seeker:2')).toContain(
    'You are Akari, researcher of research. Help one.\n\n# Skills: 1\n',
  );

  expect(await world.run('profiles', 'retire', 'Akari')).toMatchObject({ code: 0 });
  const refused = await world.run('init', await project('three'));
  expect(refused).toMatchObject({
    code: 3,
    err: expect.stringContaining('three.yaml:10:22  the profile Akari is retired'),
  });
  await world.run('send', 'one', 'Akari', 'P1', 'Still there?');
  await answers('one', 3);
});

test('a team that outlives projects has a standing project: mail to its members goes there, and nothing is handed in', async () => {
  const submit = '{ tool: completion.submit, input: { report: Done. }, expectError: project-standing }';
  const desk = await file(
    'desk',
    '  member: { profile: "*", tools: [messages.send, completion.submit] }\n',
    `      - { agent: member, steps: [${submit}, ${tell}] }\n`,
  );
  const up = () => world.run('teams', 'up', 'research', '--from', desk);
  expect(await world.run('profiles', 'send', 'Ren', 'P1', 'Hello?')).toMatchObject({
    code: 3,
    err: expect.stringContaining('has no standing project'),
  });
  expect(await up()).toMatchObject({ code: 0, out: expect.stringContaining('it was made and runs') });
  expect(await world.run('profiles', 'send', 'Ren', 'P1', 'What of the north gauge?')).toMatchObject({ code: 0 });
  await answers('desk', 1);
  expect(await told('desk')).toEqual(['Ren in desk']);

  await restart();
  expect(await up()).toMatchObject({
    code: 0,
    out: expect.stringContaining('desk is the standing project of research, and runs'),
  });
  await world.run('profiles', 'send', 'Ren', 'P0', 'And now?');
  await answers('desk', 2);
  expect(JSON.parse((await world.run('status', 'desk', '--json')).out)).toMatchObject({
    project: { status: 'running', reportVersion: null, standingTeam: 'research' },
  });
  expect(await readFile(join(world.root, 'projects/desk/resolved.yaml'), 'utf8')).toMatch(/profile: [0-9a-f]{8}-/);
});
