import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { CommanderError } from 'commander';
import { anyBackend, type CliWorld, createCliWorld, printed } from './support/cli.js';
import { commandsOf, wholeProgram } from './support/program.js';

const place = new URL('../../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, place), 'utf8');
const pages = ['README.md', ...readdirSync(fileURLToPath(new URL('docs', place))).map((name) => `docs/${name}`)].filter(
  (path) => path.endsWith('.md'),
);

/** Command lines that stand by themselves in a page's blocks, without what a shell does with them. */
function linesIn(text: string): string[] {
  return [...text.matchAll(/^(?:\$ )?(?:npx )?suzumio (.+)$/gm)].map(([, line = '']) =>
    line.replace(/ +#.*| +[|>].*$/g, '').trim(),
  );
}

/** The words of a line as a shell takes them apart. */
function wordsOf(line: string): string[] {
  return [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, plain]) => double ?? single ?? plain ?? '',
  );
}

/** What is wrong with how a line is written; nothing is done. */
async function mistakeIn(line: string): Promise<string | undefined> {
  try {
    await wholeProgram().parseAsync(wordsOf(line), { from: 'user' });
    return undefined;
  } catch (error) {
    if (error instanceof CommanderError) return `suzumio ${line}: ${error.message}`;
    throw error;
  }
}

describe('every command line', () => {
  test.each(pages)('in %s is written as it has to be', async (page) => {
    const mistakes = await Promise.all(linesIn(read(page)).map(mistakeIn));
    expect(mistakes.filter((mistake) => mistake !== undefined)).toEqual([]);
  });

  test('in the help of a command is, too', async () => {
    const lines: string[] = [];
    for (const { command } of commandsOf(wholeProgram())) {
      let help = '';
      command.configureOutput({ writeOut: (text) => (help += text) }).outputHelp();
      lines.push(
        ...linesIn((/\nExamples:\n([^]*)/.exec(help)?.[1] ?? '').replace(/^ {2}/gm, '').replace(/ {3}.*$/gm, '')),
      );
    }
    expect(lines.length).toBeGreaterThan(40);
    const mistakes = await Promise.all(lines.map(mistakeIn));
    expect(mistakes.filter((mistake) => mistake !== undefined)).toEqual([]);
  });
});

describe("the README's next five minutes", () => {
  let world: CliWorld;
  beforeEach(async () => {
    world = await createCliWorld({ policy: anyBackend });
  });
  afterEach(() => world.remove());

  test('are as it says: every command in its order, in real containers', async () => {
    const readme = read('README.md');
    const [, yaml = ''] = /```yaml\n([^]*?)```/.exec(readme) ?? [];
    const file = await world.write('greeting.yaml', yaml);
    const [first = '', ...others] = linesIn(readme).filter((line) => line.includes('greeting'));
    const up = world.begin(...wordsOf(first.replace('greeting.yaml', file)), '--port', '0');
    await printed(up, 'started');
    expect(others.map((line) => line.split(' ')[0])).toEqual(['send', 'status', 'report', 'approve']);
    for (const line of others) {
      if (line.startsWith('report')) await printed(up, 'submitted the report');
      const { code, out, err } = await world.run(...wordsOf(line));
      expect({ line, code, err }).toEqual({ line, code: 0, err: '' });
      if (line.startsWith('report')) expect(out).toContain('It rains.');
      else expect(out).toMatch(/\n?next: suzumio /);
    }
    const [, shown = ''] = /`npx suzumio (turns show [^`]*)`/.exec(readme) ?? [];
    expect((await world.run(...wordsOf(shown))).out).toContain('artifacts.publish');
  });
});
