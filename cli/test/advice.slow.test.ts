import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { failAttempt } from '@suzumio/store/turns/fail-attempt';
import { teamYaml } from '../../test/support/cell.js';
import { type TestApi, testApi } from '../../services/api/test/support/api.js';
import { beginTurn, failTurn, publish, submit } from '../../services/api/test/support/play.js';
import { type CliWorld, createCliWorld, printed } from './support/cli.js';

let api: TestApi;
let world: CliWorld;
const answers: string[] = ['n'];
beforeEach(async () => {
  api = await testApi();
  await api.create();
  world = await createCliWorld({ terminal: true, answers });
  there();
});
afterEach(async () => {
  await world.remove();
  await api.close();
});

/** Commands ask the server, with a token. */
function there(token = api.adminToken): void {
  world.setEnvironment({ SUZUMIO_URL: api.url, SUZUMIO_TOKEN: token, COLUMNS: '200' });
}

test('changes are requested of the agent that submitted, and with what was published', async () => {
  await publish(api, 'team', 'ada', { name: 'example.md', content: Buffer.from('# So\n') });
  await submit(api, 'team', 'ben', '# Done');
  for (const command of ['status', 'report']) {
    expect((await world.run(command, 'team')).out).toContain('request-changes team ben "…"');
  }
  await world.run('request-changes', 'team', 'ben', 'As', 'here.', '--attach', 'example.md');
  const [message] = JSON.parse(
    (await world.run('messages', 'team', '--to', 'ben', '--newest', '--limit', '1', '--json')).out,
  ) as unknown[];
  expect(message).toMatchObject({ body: 'As here.', attachments: [{ name: 'example.md' }] });
});

describe('mail without a priority', () => {
  test.each([[['send', 'team', 'ada', 'Hello.']], [['profiles', 'send', 'Akari', 'Hello.']]])(
    'says so: %j',
    async (words) => {
      const { code, err } = await world.run(...words);
      expect({ code, err }).toEqual({
        code: 2,
        err: expect.stringMatching(/It is P0, P1, P2 or P3 .*before the message/),
      });
    },
  );

  test('and without a message says that', async () => {
    const { code, err } = await world.run('send', 'team', 'ada', 'P1');
    expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining('The message is missing') });
  });
});

describe('a redaction', () => {
  test('shows what it removes to who is asked, and to nobody else', async () => {
    await world.run('send', 'team', 'ada', 'P1', `The password is hunter2.\n${'A line.\n'.repeat(20)}`);
    answers.push('n');
    const asked = await world.run('messages', 'redact', 'team', '1');
    expect(asked.err).toContain('| The password is hunter2.\n| A line.\n');
    expect(asked.err).toContain('| …\n');
    const agreed = await world.run('messages', 'redact', 'team', '1', '--yes');
    expect(agreed).toMatchObject({ code: 0, err: expect.not.stringContaining('hunter2') });
  });
});

test('a project without a shared repository says so, and one with it that nothing was pushed', async () => {
  await api.create(teamYaml.replace('name: team', 'name: sharing\ngit: { shared: true }'));
  for (const command of ['refs', 'log']) {
    expect((await world.run('git', command, 'team')).out).toBe(
      'The agents of team share no repository: its file says nothing of git: { shared: true }.\n',
    );
    expect((await world.run('git', command, 'sharing')).out).toBe('Nothing has been pushed in sharing yet.\n');
  }
});

test('with a token for one project, all that is watched is that project', async () => {
  await api.create(teamYaml.replace('name: team', 'name: other'));
  there(await api.token('read', 'team'));
  const watching = world.begin('watch', '--all');
  await printed(watching, 'initialized');
  there();
  await world.run('send', 'other', 'ada', 'P1', 'Not for you.');
  await world.run('send', 'team', 'ada', 'P1', 'For you.');
  await printed(watching, 'For you.');
  expect((await watching.stop()).out).not.toContain('other');
});

describe('mail that was left', () => {
  const left = async () => (await world.run('inbox', 'team', 'ada', '--undelivered')).out;

  test('by a turn that a retry continues', async () => {
    await failTurn(api, 'team', 'ada');
    expect(await left()).toMatch(/next: suzumio agents retry team ada\n\s+suzumio agents reset team ada --redeliver\n/);
  });

  test('by a turn that a retry does not help', async () => {
    const of = await beginTurn(api, 'team', 'ada');
    await api.write('team', (tx) => failAttempt(tx, of, { failure: { code: 'step-limit', message: 'Enough.' } }));
    expect(await left()).toMatch(/next: suzumio agents reset team ada --redeliver\n\s+suzumio redeliver team 1\n/);
  });
});

test('where no server runs, why says so of a turn that was running', async () => {
  await beginTurn(api, 'team', 'ada');
  world.setEnvironment({});
  const { out } = await world.run('--root', api.root, 'why', 'team', 'ada');
  expect(out).toMatch(
    /^ada was at work\.\n- No scheduler runs.*\n- No ToolHost runs.*\n- Turn 1 was running on worker-1 since/,
  );
  expect(out).toContain(`No server is running for ${api.root}: this is how it was left`);
  expect(out).toMatch(/next: suzumio --root \S+ serve\n/);
});
