import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { publishedCommands } from '@suzumio/cli/published-commands';
import { eventually } from '../../test/support/poll.js';
import { freePort } from '../../test/support/free-port.js';
import { publishedTable } from '../../test/support/published-table.js';
import { type BegunCommand, type CliWorld, createCliWorld, notesProject, printed } from './support/cli.js';
import { wholeProgram } from './support/program.js';

const rows = publishedTable('The command');
const examples = rows.map(([typed = '', meaning = '', , example = '']) => ({
  typed: typed.slice(1, -1),
  meaning,
  words: /^`suzumio (.+)`$/.exec(example)?.[1]?.split(' ') ?? [],
}));

describe('names of the published Suzumio', () => {
  test('are in docs/coming-from-suzumio.md as they are in the code', () => {
    const told = publishedCommands.map(({ typed, meaning, here }) => [`\`${typed}\``, meaning, here]);
    expect(rows.map((row) => row.slice(0, 3))).toEqual(told);
  });

  test('are commands of the program, which has no other aliases and no hidden options besides', () => {
    const program = wholeProgram();
    const named = program.commands.map((command) => command.name());
    const [aliases, options] = [new Set<string>(), new Set<string>()];
    for (const row of publishedCommands) {
      const [name = ''] = row.typed.split(' ');
      if (row.meaning === 'alias') aliases.add(`${name} ${row.of}`);
      else expect(named).toContain(name);
      if (row.meaning === 'note') options.add(`${name} ${row.option}`);
    }
    const shown = program.commands.filter((command) => program.createHelp().visibleCommands(program).includes(command));
    const inProgram = shown.flatMap((command) => command.aliases().map((alias) => `${alias} ${command.name()}`));
    const hidden = shown.flatMap((command) =>
      command.options.filter((option) => option.hidden).map((option) => `${command.name()} ${option.long ?? ''}`),
    );
    expect({ aliases: new Set(inProgram), options: new Set(hidden) }).toEqual({ aliases, options });
  });
});

describe('their examples', () => {
  let world: CliWorld;
  let serve: BegunCommand | undefined;
  beforeAll(async () => {
    world = await createCliWorld();
    await world.write('bulletin.yaml', notesProject('bulletin'));
  });
  afterAll(async () => {
    await stopServing();
    await world.remove();
  });

  async function stopServing(): Promise<void> {
    await serve?.stop();
  }

  const status = async () => {
    const { out } = await world.run('status', 'bulletin', '--json');
    return (JSON.parse(out) as { project: { status: string } }).project.status;
  };

  // Each goes on from where the one before has left the project.
  test.each(examples)('suzumio $words', async ({ typed, meaning, words }) => {
    const typedWords = typed.split(' ').filter((word) => /^[a-z-]+$/.test(word));
    expect(words.slice(0, typedWords.length)).toEqual(typedWords);
    if (words[0] === 'serve') {
      await stopServing();
      serve = world.begin(...words, '--port', String(await freePort()));
      await printed(serve, 'Suzumio listens on');
      expect(serve.err).toBe(
        meaning === 'note' ? 'note: --no-platforms: no platforms are served here, with or without it\n' : '',
      );
      return;
    }
    if (words[0] === 'approve') {
      if ((await status()) === 'stopped') await world.run('start', 'bulletin');
      await world.run('send', 'bulletin', 'writer', 'P1', 'Another one, please.');
      await eventually('a report is submitted', async () => (await status()) === 'submitted');
    }
    const place = words.map((word) => (word === 'bulletin.yaml' ? `${world.directory}/${word}` : word));
    const { code, out, err } = await world.run(...place);
    expect({ code, err }).toEqual({ code: 0, err: words[0] === 'init' ? expect.any(String) : '' });
    expect(out).not.toBe('');
  });

  test('an alias does what the command does, and says how that one is written', async () => {
    const [alias, command] = [await world.run('activations', 'bulletin'), await world.run('turns', 'bulletin')];
    expect(alias).toEqual(command);
    expect(alias.out).toContain('writer');
    expect((await world.run('activations', 'show', 'bulletin', 'writer:1')).code).toBe(0);
    const wrong = await world.run('activations', 'bulletin', '--limit', 'many');
    expect(wrong).toMatchObject({ code: 2, err: expect.stringContaining('usage: suzumio turns [options]') });
    expect((await world.run('activations', '--help')).out).toContain('Usage: suzumio turns [options] ');
    expect((await world.run('--help')).out).not.toContain('activations');
    expect((await world.run('serve', '--help')).out).not.toContain('platforms');
  });
});
