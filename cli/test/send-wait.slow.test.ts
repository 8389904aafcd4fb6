import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { replyAnswer } from '@suzumio/contract/model/reply';
import { replyToMessage } from '@suzumio/store/mail/reply-to-message';
import { completeTurn } from '@suzumio/store/turns/complete-turn';
import { type TestApi, testApi } from '../../services/api/test/support/api.js';
import { beginTurn } from '../../services/api/test/support/play.js';
import { eventually } from '../../test/support/poll.js';
import { type CliWorld, createCliWorld } from './support/cli.js';

let api: TestApi;
let world: CliWorld;
beforeAll(async () => {
  api = await testApi();
  await api.create();
  world = await createCliWorld();
  world.setEnvironment({ SUZUMIO_URL: api.url, SUZUMIO_TOKEN: api.adminToken });
});
afterAll(async () => {
  await world.remove();
  await api.close();
});

const send = (text: string, ...more: string[]) => world.begin('send', 'team', 'ada', 'P1', text, '--wait', ...more);

/** The id of a message, once it is sent. */
async function sent(text: string): Promise<string> {
  let id: string | undefined;
  await eventually('it is sent', async () => {
    const { json } = await api.get('/api/projects/team/messages');
    id = (json as { items: { id: string; body: string }[] }).items.find(({ body }) => body === text)?.id;
    return id !== undefined;
  });
  return id ?? '';
}

/** Ada reads a message, and answers it. */
async function answer(text: string, body: string): Promise<void> {
  const message = await sent(text);
  const turn = await beginTurn(api, 'team', 'ada');
  await api.write('team', (tx) => {
    replyToMessage(tx, { message, sender: 'ada', priority: 'P1', body, actor: 'ada' });
    completeTurn(tx, turn, { output: { text: 'Done.' } });
  });
}

test('prints the reply and nothing else', async () => {
  const run = send('Is it true?');
  await answer('Is it true?', 'Yes.\nIt is.\n');
  expect(await run.ended).toEqual({ code: 0, out: 'Yes.\nIt is.\n', err: '' });
});

test('gives a program the whole answer', async () => {
  const run = send('Is it false?', '--json');
  await answer('Is it false?', 'No.');
  const { code, out } = await run.ended;
  expect(code).toBe(0);
  expect(replyAnswer.parse(JSON.parse(out))).toMatchObject({ state: 'replied', reply: { body: 'No.', sender: 'ada' } });
});

test('says that a reply has not come in time, or that nobody waits any more', async () => {
  const late = await send('How late is it?', '--timeout', '50ms').ended;
  expect(late).toMatchObject({ code: 5, out: '' });
  expect(late.err).toMatch(
    /^msg_\w+ has no reply yet; one may still come\.\nnext: suzumio messages show team msg_\w+\n$/,
  );
  const run = send('Is anybody there?');
  await sent('Is anybody there?');
  expect(await run.stop()).toMatchObject({ code: 5, out: '' });
});

test('says why no reply is expected', async () => {
  await api.post('/api/projects/team/agents/ada/stop', { now: true });
  const { code, out, err } = await send('Are you there?').ended;
  expect({ code, out }).toEqual({ code: 3, out: '' });
  expect(err).toMatch(
    /^No reply to msg_\w+ is expected for now\.\nada: It was stopped, .*\nnext: suzumio agents start team ada\n$/,
  );
});

test.each([
  [['--timeout', '1m'], /--timeout is for --wait/],
  [['--wait', '--timeout', '5'], /such as 30s/],
  [['--wait', '--timeout', 'soon'], /such as 30s/],
])('refuses %j', async (options, said) => {
  const { code, err } = await world.run('send', 'team', 'ada', 'P1', 'Hello.', ...options);
  expect(code).toBe(2);
  expect(err).toMatch(said);
});

test('says who is at work, and what cancelling that turn would do', async () => {
  await world.run('send', 'team', 'ben', 'P1', 'Begin.');
  await beginTurn(api, 'team', 'ben');
  const { out } = await world.run('send', 'team', 'ben', 'P0', 'Stop.');
  expect(out).toMatch(
    /^Sent to ben as msg_\w+, unread by ben\.\nben is at work since \d\d:\d\d:\d\d, and reads it after this turn\.\nCancelling that turn ends it now; its own mail is then undelivered, and this mail stays unread\.\nnext: suzumio watch team\n {6}suzumio cancel team ben:1\n$/,
  );
});
