import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { anyBackend, type CliWorld, createCliWorld } from './support/cli.js';
import { commandsOf, wholeProgram } from './support/program.js';

const document = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

let world: CliWorld;
beforeEach(async () => {
  world = await createCliWorld({ policy: anyBackend });
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

  test("the command's reference names every command and option, and what is under --json", () => {
    const reference = document('docs/cli.md');
    for (const { path, command } of commandsOf(wholeProgram())) {
      expect(reference).toContain(`\`${path}`);
      const options = command.options.filter(({ hidden }) => !hidden).map(({ long }) => long ?? '');
      const undocumented = options.filter((option) => !reference.includes(option));
      expect({ path, undocumented }).toEqual({ path, undocumented: [] });
    }
    const schemas = Object.keys((JSON.parse(document('docs/openapi.json')) as OpenApi).components.schemas);
    const named = [...reference.matchAll(/^\|.*\| (.*?) *\|$/gm)].flatMap(
      ([, shape = '']) => shape.match(/`[A-Z]\w+`/g) ?? [],
    );
    expect(named.length).toBeGreaterThan(20);
    expect(schemas).toEqual(expect.arrayContaining(named.map((name) => name.replaceAll('`', ''))));
  });
});

interface OpenApi {
  components: { schemas: Record<string, unknown> };
}
