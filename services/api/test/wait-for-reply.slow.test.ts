import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type Client, createClient } from '@suzumio/contract/client/client';
import { untilReply } from '@suzumio/contract/client/until-reply';
import { replyAnswer } from '@suzumio/contract/model/reply';
import { postMessage } from '@suzumio/store/mail/post-message';
import { replyToMessage } from '@suzumio/store/mail/reply-to-message';
import { stopAgent } from '@suzumio/store/turns/agent-transitions';
import { completeTurn } from '@suzumio/store/turns/complete-turn';
import { failAttempt } from '@suzumio/store/turns/fail-attempt';
import { uncut } from '../../../test/support/bounds.js';
import { eventually } from '../../../test/support/poll.js';
import type { TestApi } from './support/api.js';
import { hintedApi } from './support/hinted-api.js';
import { beginTurn, submit } from './support/play.js';
import { refusal } from './support/refusal.js';

let api: TestApi;
let seen: { looks: number };
beforeEach(async () => {
  ({ api, seen } = await hintedApi());
});
afterEach(() => api.close());

const path = '/api/projects/team';
const replyPath = (message: string, timeout = '60s') => `${path}/messages/${message}/reply?timeout=${timeout}`;
const ask = async (message: string, timeout?: string) =>
  replyAnswer.parse((await api.get(replyPath(message, timeout))).json);
/** The waits have been asked for, have looked once, and their feed has looked too. */
const waiting = async (waits = 1) => {
  await eventually('they wait', () => seen.looks >= waits + 1);
};
/** Starts counting anew, and asks. */
function begin(message: string): ReturnType<typeof ask> {
  seen.looks = 0;
  return ask(message);
}
const send = async (recipient = 'ada') =>
  ((await api.post(`${path}/messages`, { recipient, body: 'Is it true?' })).json as { id: string }).id;
const reply = (message: string, body: string, sender = 'ada', recipient?: string) =>
  api.write('team', (tx) => replyToMessage(tx, { message, sender, recipient, priority: 'P1', body, actor: sender }));
/** A message to `ada`, which reads it in a turn. */
async function reading(): Promise<{ message: string; turn: { turn: string; attempt: number } }> {
  const message = await send();
  return { message, turn: await beginTurn(api, 'team', 'ada') };
}

describe('waiting for a reply', () => {
  test('that is there is over at once, and the first of two counts', async () => {
    const { message } = await reading();
    await reply(message, 'To Ben.', 'ada', 'ben');
    await reply(message, 'Yes.');
    await reply(message, 'Or not.');
    expect(await ask(message)).toMatchObject({
      message,
      state: 'replied',
      reply: { body: 'Yes.', sender: 'ada', recipient: 'user', replyTo: message },
      reasons: [],
    });
  });

  test('ends when it is written', async () => {
    const { message } = await reading();
    const answer = begin(message);
    await waiting();
    await reply(message, 'To Ben.', 'ada', 'ben');
    await reply(message, 'Yes.');
    expect(await answer).toMatchObject({ state: 'replied', reply: { body: 'Yes.' } });
  });

  test('takes the number of the message, too', async () => {
    const { message } = await reading();
    const { seq } = (await api.get(`${path}/messages/${message}`)).json as { seq: number };
    const answer = begin(String(seq));
    await waiting();
    await reply(message, 'Yes.');
    expect(await answer).toMatchObject({ message, state: 'replied' });
  });

  test('ends when the time is up', async () => {
    const { message } = await reading();
    expect(await ask(message, '200ms')).toEqual({ message, state: 'waiting', reply: null, reasons: [] });
  });

  test('ends for a hundred at once', async () => {
    const { message } = await reading();
    seen.looks = 0;
    const answers = Array.from({ length: 100 }, () => ask(message));
    await waiting(100);
    await reply(message, 'Yes.');
    expect(new Set((await Promise.all(answers)).map(({ state }) => state))).toEqual(new Set(['replied']));
  });

  test('refuses to take longer than a minute', async () => {
    const { status, code } = refusal(await api.get(replyPath('1', '61s')));
    expect({ status, code }).toEqual({ status: 400, code: 'invalid-request' });
  });

  test('ends with the service, which says that another may know', async () => {
    const { message } = await reading();
    seen.looks = 0;
    const answer = api.get(replyPath(message));
    await waiting();
    await uncut(() => api.api.stop());
    expect(refusal(await answer)).toMatchObject({ status: 503, code: 'server-unreachable' });
  });
});

describe('a client', () => {
  test('asks again where its server stops, and where a request has waited long enough', async () => {
    const { message } = await reading();
    const clientOf = (url: string) => createClient({ url, token: api.adminToken });
    const [client, stopped] = [clientOf(api.url), clientOf('http://127.0.0.1:9')];
    let asked = 0;
    const waitForReply: Client['waitForReply'] = async (input, options) => {
      asked += 1;
      if (asked === 3) await reply(message, 'Yes.');
      const server = asked === 1 ? stopped : client;
      return server.waitForReply({ ...input, query: { timeout: '50ms' } }, options);
    };
    expect(await untilReply({ waitForReply }, { project: 'team', message })).toMatchObject({ state: 'replied' });
    expect(asked).toBe(3);
  });

  test('does not ask again for what is refused, nor once its time is up', async () => {
    const client = createClient({ url: api.url, token: api.adminToken });
    await expect(untilReply(client, { project: 'team', message: '99' })).rejects.toMatchObject({
      code: 'message-unknown',
    });
    const { message } = await reading();
    expect(await untilReply(client, { project: 'team', message, timeoutMs: 100 })).toMatchObject({ state: 'waiting' });
  });
});

describe('no reply is expected', () => {
  const failure = { code: 'non-zero-exit' as const, message: 'The runner ended with exit code 3.' };

  test('when the turn that read the message fails', async () => {
    const { message, turn } = await reading();
    const answer = begin(message);
    await waiting();
    await api.write('team', (tx) => failAttempt(tx, turn, { failure }));
    expect(await answer).toMatchObject({
      state: 'not-expected',
      reply: null,
      reasons: [{ agent: 'ada', code: 'agent-failed', next: 'agents retry team ada' }],
    });
    await api.post(`${path}/agents/ada/reset`, {});
    expect(await ask(message)).toMatchObject({
      state: 'not-expected',
      reasons: [{ agent: 'ada', code: 'turn-failed', next: expect.stringMatching(/^redeliver team \d+$/) as unknown }],
    });
    await api.post(`${path}/messages/${message}/redeliver`, {});
    expect(await ask(message, '50ms')).toMatchObject({ state: 'waiting' });
  });

  test('when the turn that read it is cancelled', async () => {
    const { message, turn } = await reading();
    const answer = begin(message);
    await waiting();
    await api.post(`${path}/turns/${turn.turn}/cancel`, {});
    expect((await answer).reasons).toMatchObject([{ agent: 'ada' }]);
    expect(await answer).toMatchObject({ state: 'not-expected' });
  });

  test('when the turn that read it ends without one, and nobody else is at work', async () => {
    const { message, turn } = await reading();
    const other = await beginTurn(api, 'team', 'ben');
    const answer = begin(message);
    await waiting();
    await api.write('team', (tx) => {
      completeTurn(tx, turn, { output: { text: 'Done.' } });
    });
    expect(await ask(message, '50ms')).toMatchObject({ state: 'waiting' });
    await api.write('team', (tx) => {
      completeTurn(tx, other, { output: { text: 'Done.' } });
    });
    expect(await answer).toMatchObject({ state: 'not-expected', reasons: [{ agent: 'ada', code: 'turn-ended' }] });
    // What one does not expect may come.
    await reply(message, 'After all.');
    expect(await ask(message)).toMatchObject({ state: 'replied' });
  });

  test('when that turn has written to the sender without replying: the message is named', async () => {
    const { message, turn } = await reading();
    const mail = { sender: 'ada', priority: 'P1', actor: 'ada', turn: turn.turn } as const;
    await api.write('team', (tx) => postMessage(tx, { ...mail, recipient: 'ben', body: 'To Ben.' }));
    const { seq } = await api.write('team', (tx) => postMessage(tx, { ...mail, recipient: 'user', body: 'Yes.' }));
    await api.post(`${path}/agents/ben/stop`, {});
    await api.write('team', (tx) => {
      completeTurn(tx, turn, { output: { text: 'Done.' } });
    });
    const [reason] = (await ask(message)).reasons;
    expect(reason).toMatchObject({ agent: 'ada', code: 'turn-ended', next: `messages show team ${seq}` });
    expect(reason?.sentence).toContain(`ended without a reply, but wrote message ${seq} to user`);
  });

  test('when its agent is stopped', async () => {
    const message = await send();
    const answer = begin(message);
    await waiting();
    await api.write('team', (tx) => stopAgent(tx, 'ada', 'test', { now: true }));
    expect(await answer).toMatchObject({
      state: 'not-expected',
      reasons: [{ agent: 'ada', code: 'agent-stopped', next: 'agents start team ada' }],
    });
  });

  test('when the project is stopped', async () => {
    const message = await send();
    const answer = begin(message);
    await waiting();
    await api.post(`${path}/stop`, { now: true });
    expect(await answer).toMatchObject({
      state: 'not-expected',
      reasons: [{ agent: 'ada', code: 'project-stopped', next: 'start team' }],
    });
  });

  test('when the project hands in its report, and when that is approved', async () => {
    const { seq, id } = (await api.post(`${path}/messages`, { recipient: 'cat', body: 'Well?' })).json as {
      seq: number;
      id: string;
    };
    const answer = begin(id);
    await waiting();
    await submit(api, 'team', 'ada', '# Report\n');
    const reasons = (code: string, next: string) => ({
      state: 'not-expected',
      reasons: [{ agent: 'cat', code, next }],
    });
    expect(await answer).toMatchObject(reasons('project-submitted', 'report team'));
    await api.post(`${path}/approve`, {});
    expect(await ask(String(seq))).toMatchObject(reasons('project-completed', 'request-changes team cat "…"'));
  });

  test('when nobody can answer', async () => {
    const { id } = await api.write('team', (tx) =>
      postMessage(tx, { sender: 'ada', recipient: 'user', priority: 'P1', body: 'It is done.', actor: 'ada' }),
    );
    expect(await ask(id)).toMatchObject({
      state: 'not-expected',
      reasons: [{ agent: null, code: 'no-agent', next: expect.stringMatching(/^reply team \d+ "…"$/) as unknown }],
    });
  });

  test('of several only when it is of none of them', async () => {
    const message = ((await api.post(`${path}/broadcasts`, { body: 'Who knows?' })).json as { id: string }).id;
    const answer = begin(message);
    await waiting();
    await api.write('team', (tx) => stopAgent(tx, 'ada', 'test', { now: true }));
    expect(await ask(message, '50ms')).toMatchObject({ state: 'waiting' });
    await beginTurn(api, 'team', 'ben');
    await reply(message, 'I do.', 'ben');
    expect(await answer).toMatchObject({ state: 'replied', reply: { sender: 'ben', body: 'I do.' } });
  });
});
