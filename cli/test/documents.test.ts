import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type CliWorld, createCliWorld } from './support/cli.js';

const document = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

let world: CliWorld;
beforeEach(async () => {
  world = await createCliWorld();
});
afterEach(() => world.remove());

describe('what users are shown', () => {
  test('the newsroom is a project that can be made', async () => {
    const file = fileURLToPath(new URL('../../examples/newsroom/newsroom.yaml', import.meta.url));
    expect(await world.run('init', file)).toMatchObject({ code: 0, err: '' });
  });

  test("the README's own team can be made, and its mistake is where it says", async () => {
    const readme = document('README.md');
    const [, yaml = ''] = /```yaml\n([^]*?)```/.exec(readme) ?? [];
    expect(await world.run('init', await world.write('greeting.yaml', yaml))).toMatchObject({ code: 0, err: '' });
    const mistaken = await world.write(
      'mistaken.yaml',
      yaml.replace('[messages.send, artifacts.read', '[messages.sned, artifacts.read'),
    );
    const [, place = ''] = /greeting\.yaml(:\d+:\d+ {2}unknown tool .*)/.exec(readme) ?? [];
    expect(await world.run('init', mistaken)).toMatchObject({ code: 3, err: `${mistaken}${place}\n` });
  });

  test("the command's reference names every command and option", async () => {
    const reference = document('docs/cli.md');
    const { out } = await world.run('--help');
    const [, listed = ''] = /\nCommands:\n([^]*?)\n\n/.exec(out) ?? [];
    const commands = [...listed.matchAll(/^ {2}([a-z-]+)/gm)].map(([, name = '']) => name);
    expect(commands).toEqual(expect.arrayContaining(['up', 'init', 'serve', 'watch', 'request-changes', 'doctor']));
    for (const command of commands.filter((name) => name !== 'help')) {
      expect(reference).toContain(`\`${command}`);
      const help = (await world.run(command, '--help')).out;
      const options = [...help.matchAll(/--[a-z-]+/g)].map(([option]) => option);
      const undocumented = options.filter((option) => option !== '--help' && !reference.includes(option));
      expect({ command, undocumented }).toEqual({ command, undocumented: [] });
    }
  });
});
