import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { toolpackTools } from '@suzumio/protocol/tool-names';
import { type CliWorld, createCliWorld } from '../cli/test/support/cli.js';
import { eventually } from './support/poll.js';

const page = readFileSync(new URL('../docs/memory.md', import.meta.url), 'utf8');
const [, commands = ''] = /```sh\n([^]*?)```/.exec(page) ?? [];
const [, example = ''] = /```yaml\n([^]*?)```/.exec(page) ?? [];

let world: CliWorld;

beforeAll(async () => {
  world = await createCliWorld();
  const persona = await world.write('akari.md', 'Look.\n');
  await world.run('profiles', 'create', 'Akari', '--role', 'reader', '--persona', persona);
  await world.serve();
  const script = [
    '{ tool: memory.note, input: { text: "Levels in centimetres, they said.", tags: [style] } }',
    '{ tool: memory.note, input: { text: "The north gauge was moved.", scope: profile } }',
    '{ tool: messages.send, input: { recipient: user, body: "Done." } }',
  ];
  const file = await world.write(
    'newsroom.yaml',
    `name: newsroom\ntask: Write.\nbackend:\n  kind: process\n  runner:\n    mode: mock\n    script:\n      - { agent: editor, steps: [${script.join(', ')}] }\n${example.replace('role: editor', 'role: editor\n    profile: Akari')}`,
  );
  expect(await world.run('init', file)).toMatchObject({ code: 0 });
  await world.run('start', 'newsroom');
});
afterAll(() => world.remove());

/** The words of a line as a shell takes them apart. */
const wordsOf = (line: string) =>
  [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '').slice(1);
const run = async (...words: string[]) => {
  const { code, out, err } = await world.run(...words);
  expect({ words, code, err }).toMatchObject({ words, code: 0 });
  return out;
};
interface Shown {
  id: string;
  text: string;
}
const notes = async (...words: string[]) => JSON.parse(await run('memory', ...words, '--json')) as Shown[];

test('the page on memory has each tool, and its example is a project whose agent notes', async () => {
  for (const tool of toolpackTools.memory) expect(page).toContain(`| \`${tool}\``);
  await run('send', 'newsroom', 'editor', 'P1', 'What do you know?');
  await eventually('it has noted', async () => (await notes('list', '--profile', 'Akari')).length === 1);
  await eventually('its turn is over', async () => (await run('turns', 'newsroom')).includes('completed'));
});

test('its commands do what they say', async () => {
  const lines = commands.trim().split('\n');
  expect(lines).toHaveLength(4);
  const [added = '', listed = '', found = '', shared = ''] = await lines.reduce<Promise<string[]>>(
    async (before, line) => [...(await before), await run(...wordsOf(line))],
    Promise.resolve([]),
  );
  expect(added).toMatch(/^Noted as note_[0-9A-Z]{26}\.\nnext: suzumio memory list newsroom editor\n$/);
  expect(listed).toContain('by editor (turn editor:1 of newsroom)   [style]\n  Levels in centimetres, they said.\n');
  expect(listed).toMatch(/by admin {3}\[style\]\n {2}Give levels in centimetres\.\n/);
  expect(listed).toContain('\n2 of 1000 notes, ');
  expect(found).toContain('Give levels in centimetres.');
  expect(shared).toContain('The north gauge was moved.');
});

test('notes are changed and erased by their ids, of agents and of profiles', async () => {
  for (const whose of [
    ['newsroom', 'editor'],
    ['--profile', 'Akari'],
  ]) {
    const { id } = JSON.parse(await run('memory', 'add', ...whose, 'Wrong.', '--json')) as Shown;
    expect(await run('memory', 'edit', ...whose, id, 'Right,', 'at', 'last.', '--tag', 'sure')).toContain('is changed');
    expect(await notes('search', ...whose, 'right')).toMatchObject([{ text: 'Right, at last.', tags: ['sure'] }]);
    await run('memory', 'edit', ...whose, id, '--no-tag');
    const asked = await world.run('memory', 'forget', ...whose, id);
    expect(asked).toMatchObject({ code: 2, err: expect.stringContaining('Right, at last.') });
    expect(asked.err).toContain(`memory forget ${whose.join(' ')} ${id} --yes`);
    await run('memory', 'forget', ...whose, id, '--yes');
    expect((await world.run('memory', 'forget', ...whose, id, '--yes')).err).toContain(`There is no note "${id}"`);
  }
});

test('what is missing on the command line is said', async () => {
  const refused = async (...words: string[]) => (await world.run('memory', ...words)).err;
  expect(await refused('list')).toContain('PROJECT AGENT, or --profile NICKNAME');
  expect(await refused('search', 'newsroom', 'editor')).toContain('Say what to look for.');
  expect(await refused('add', '--profile', 'Akari')).toContain('Say what is to be noted.');
  expect(await refused('edit', 'newsroom', 'editor', 'note_1')).toContain('--tag');
  expect(await refused('add', 'newsroom', 'editor', 'x', '--tag', 'a]b')).toContain('tags');
});

test('old summaries stay readable where they were', async () => {
  expect(await run('memory', 'newsroom', 'editor')).toContain('editor has no summary');
});
