import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { projectFile } from '@suzumio/cli/project-template';
import { loadProjectText } from '@suzumio/core/profiles/load-project';
import { eventually } from '../../test/support/poll.js';
import { anyBackend, type CliWorld, createCliWorld } from './support/cli.js';

// Real containers, on machines that may be busy.
jest.setTimeout(180_000);

const agent = (id: string, text = 'Do your part.') => ({ id, role: text, prompt: text });

describe('a project file that init writes', () => {
  test.each([
    ['plain words'],
    ['"quotes", \'quotes\' and \\backslashes\\'],
    ['${HOME} and $${HOME} and $1 $& $$'],
    ['@import(/etc/passwd)'],
    ['@@import(/etc/passwd)'],
    ['- item: value # comment'],
    ['{{mail.0.body}} ☕ 日本語'],
  ])('says what was answered, whatever that is: %s', (text) => {
    const { config, warnings } = loadProjectText(
      projectFile({ name: 'mine', task: text, agents: [agent('first', text), agent('second', text)] }),
      'mine.yaml',
    );
    expect(config).toMatchObject({
      name: 'mine',
      task: `${text}\n`,
      agents: { first: { role: text, prompt: text }, second: { role: text, prompt: text } },
    });
    expect(warnings).toEqual([]);
  });

  describe('as it is', () => {
    let world: CliWorld;
    beforeEach(async () => {
      world = await createCliWorld({ policy: anyBackend });
    });
    afterEach(() => world.remove());

    test.each([[1], [3]])('runs to a report, with a team of %i', async (size) => {
      const agents = ['ada', 'ben', 'cat'].slice(0, size).map((id) => agent(id));
      const text = projectFile({ name: 'mine', task: 'Write it down.', agents });
      const file = await world.write('mine.yaml', text.replace('  runner:', '  kind: process\n  runner:'));
      const up = world.begin('up', file, '--port', '0');
      try {
        await eventually('it runs', () => up.out.includes('started'), 60_000);
        await world.run('send', 'mine', 'ada', 'P1', 'Good evening.');
        await eventually('the report', () => up.out.includes('submitted the report'), 90_000);
        expect((await world.run('report', 'mine')).out).toContain('Good evening.');
      } finally {
        up.interrupt();
        await up.ended;
      }
    });
  });
});
