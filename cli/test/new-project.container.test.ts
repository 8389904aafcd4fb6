import { execFileSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { projectFile } from '@suzumio/cli/project-template';
import { repositoryFile } from '@suzumio/cli/repository-template';
import { loadProjectText } from '@suzumio/core/profiles/load-project';
import { type Behaviour, type ModelRequest, startModelServer } from '../../test/support/model-server.js';
import { anyBackend, type CliWorld, createCliWorld, printed } from './support/cli.js';

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
      await printed(up, 'started');
      await world.run('send', 'mine', 'ada', 'P1', 'Good evening.');
      await printed(up, 'submitted the report');
      expect((await world.run('report', 'mine')).out).toContain('Good evening.');
    });
  });
});

describe('the file that init writes for a repository', () => {
  let world: CliWorld;
  beforeEach(async () => {
    world = await createCliWorld({ policy: anyBackend });
  });
  afterEach(() => world.remove());

  test.each(['plain words', '${HOME} and $${HOME}', '@import(/etc/passwd)', '- item: value # comment'])(
    'says what was answered, whatever that is: %s',
    async (task) => {
      const file = await world.write('mine.yaml', repositoryFile({ name: 'mine', task }));
      expect(JSON.parse((await world.run('config', 'render', file, '--json')).out)).toMatchObject({
        task: `${task}\n`,
      });
    },
  );

  test.each(['docker', 'process'])(
    'runs as it is to a report on the repository, in the %s backend',
    async (backend) => {
      await makeRepository(world);
      const text = repositoryFile({ name: 'tides', task: 'Keep it in order.' });
      const file = await world.write('tides/tides.yaml', text.replace('  runner:', `  kind: ${backend}\n  runner:`));
      const up = world.begin('up', file, '--port', '0');
      await printed(up, 'started');
      await world.run('send', 'tides', 'maintainer', 'P1', 'How is it?');
      await printed(up, 'submitted the report');
      const { out } = await world.run('report', 'tides');
      for (const told of ['How is it?', 'tides.py', 'Measure the tide', '## suzumio/developer'])
        expect(out).toContain(told);
    },
  );

  test('lets a model do the work, as its comment says: a patch is made, applied in another clone, and reported', async () => {
    const server = await startModelServer(playPatch);
    try {
      await world.write(
        'policy.yaml',
        `${anyBackend}providers: [{ baseURL: "${server.baseURL}", apiKeyEnv: OPENAI_API_KEY }]\n`,
      );
      world.setEnvironment({ OPENAI_API_KEY: 'sk-test-0123456789' });
      const git = await makeRepository(world);
      const text = repositoryFile({ name: 'tides', task: 'Keep it in order.' })
        .replace(/^ {4}mode: mock[^]*(?=\nagents:)/m, '')
        .replace(/^ {4}# {3}/gm, '    ')
        .replace('https://api.openai.com/v1', server.baseURL);
      const file = await world.write('tides/tides.yaml', text.replace('  runner:', '  kind: process\n  runner:'));
      const up = world.begin('up', file, '--port', '0');
      try {
        await printed(up, 'started');
        await world.run('send', 'tides', 'maintainer', 'P1', 'Print four.');
        await printed(up, 'submitted the report');
        expect((await world.run('report', 'tides')).out).toContain('Applied: print(4)');
        const take = () =>
          world.run('patch', 'apply', 'tides', 'developer.patch', '--repository', join(world.directory, 'tides'));
        expect((await take()).code).toBe(0);
        expect(String(git('diff', '--stat'))).toContain('tides.py | 2 +-');
        git('-c', 'user.name=Vera', '-c', 'user.email=vera@example.org', 'commit', '--quiet', '--all', '-m', 'Four');
        await world.run('request-changes', 'tides', 'maintainer', 'Print five.');
        await printed(up, 'submitted the report', 2);
        expect((await world.run('report', 'tides')).out).toContain('Applied: print(5)');
        expect((await take()).code).toBe(0);
        expect(String(git('diff'))).toContain('-print(4)\n+print(5)');
      } finally {
        await up.stop();
      }
    } finally {
      await server.close();
    }
  });
});

/** A repository with one commit in the directory `tides`. */
async function makeRepository(world: CliWorld): Promise<(...args: string[]) => Buffer> {
  const repository = join(world.directory, 'tides');
  await mkdir(repository);
  await writeFile(join(repository, 'tides.py'), 'print(3)\n');
  const git = (...args: string[]) => execFileSync('git', ['-C', repository, ...args]);
  git('init', '--quiet');
  git('add', '.');
  git('-c', 'user.name=Vera', '-c', 'user.email=vera@example.org', 'commit', '--quiet', '-m', 'Measure the tide');
  return git;
}

/** A model that plays the team: the developer changes a file, the reviewer applies the patch. */
function playPatch({ body }: ModelRequest): Behaviour {
  const system = String(body.messages[0]?.content);
  const prompt = body.messages.findLastIndex(({ role }) => role === 'user');
  const [mail, step] = [String(body.messages[prompt]?.content), body.messages.slice(prompt + 1).length];
  const call = (name: string, input: object) => ({ calls: [{ name, arguments: input }] });
  const send = (recipient: string, text: string) => call('messages_send', { recipient, body: text });
  const last = String(body.messages.at(-1)?.content);
  const number = mail.includes('five') ? 5 : 4;
  const plays: Record<string, (Behaviour | undefined)[]> = {
    maintainer: mail.includes('from reviewer')
      ? [call('completion_submit', { report: mail })]
      : [send('developer', number === 5 ? 'Print five.' : 'Print four.')],
    developer: [
      call('workspace_git_refresh', {}),
      call('file_write', { path: 'tides.py', content: `print(${number})\n` }),
      call('artifacts_publish', { patch: true }),
      send('reviewer', 'See developer.patch.'),
    ],
    reviewer: [
      call('workspace_git_refresh', {}),
      call('file_apply', { artifact: 'developer.patch' }),
      call('shell_exec', { command: 'cat tides.py' }),
      send('maintainer', `Applied: ${last.split('\n').at(-1) ?? ''}`),
    ],
  };
  const [, role = ''] = /^You are (\w+)/.exec(system) ?? [];
  return plays[role]?.[step / 2] ?? { text: 'Done.' };
}
