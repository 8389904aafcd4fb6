import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { messageListAnswer, redeliveredMessage } from '@suzumio/contract/operations/messages';
import { messageDetail } from '@suzumio/contract/model/message';
import { type TestApi, testApi } from './support/api.js';
import { failTurn, submit } from './support/play.js';
import { refusal } from './support/refusal.js';

let api: TestApi;
beforeEach(async () => {
  api = await testApi();
  await api.create();
});
afterEach(() => api.close());

const path = '/api/projects/team';
const detail = async (message: string) => messageDetail.parse((await api.get(`${path}/messages/${message}`)).json);

describe('a message', () => {
  test('says who has it unread, who read it in which turn, and what became of that', async () => {
    await api.post(`${path}/messages`, { channel: '#team', body: 'To all.' });
    await submit(api, 'team', 'ada', '# Report\n');
    const message = await detail('1');
    expect(message).toMatchObject({
      id: expect.stringMatching(/^msg_/),
      seq: 1,
      body: 'To all.',
      threadId: message.id,
    });
    expect(message.receipts).toMatchObject([
      {
        agent: 'ada',
        unread: false,
        reads: [{ turnNumber: 1, status: 'completed', attempts: [{ number: 1, status: 'completed', failure: null }] }],
      },
      { agent: 'ben', unread: true, reads: [] },
      { agent: 'cat', unread: true, reads: [] },
    ]);
    expect(await detail(message.id)).toEqual(message);
  });

  test.each(['99', 'msg_none', '1x', '-1', '9999999999999999999'])('called %s there is none', async (name) => {
    expect(refusal(await api.get(`${path}/messages/${name}`))).toEqual({
      status: 404,
      code: 'message-unknown',
      detail: `There is no message "${name}" in this project; write its id or its number.`,
    });
  });

  test('of another project is not there', async () => {
    await api.create(`
name: other
task: Be.
agents: { ada: { role: writer, prompt: Write. } }
`);
    await api.post(`/api/projects/other/messages`, { recipient: 'ada', body: 'Elsewhere.' });
    const { id } = messageDetail.parse((await api.get('/api/projects/other/messages/1')).json);
    expect(refusal(await api.get(`${path}/messages/${id}`)).code).toBe('message-unknown');
    expect(refusal(await api.get(`${path}/threads/${id}`)).code).toBe('thread-unknown');
    expect(refusal(await api.post(`${path}/messages/${id}/redeliver`)).code).toBe('message-unknown');
  });
});

describe('a thread', () => {
  test('is read page by page, by its id or any message in it', async () => {
    for (const body of ['One.', 'Two.', 'Three.']) await api.post(`${path}/messages`, { recipient: 'ada', body });
    await api.write('team', (tx) =>
      tx.run('UPDATE messages SET thread_id = (SELECT id FROM messages WHERE seq = 1) WHERE seq = 3'),
    );
    const thread = (await detail('1')).id;
    for (const name of [thread, '1', '3']) {
      const { items } = messageListAnswer.parse((await api.get(`${path}/threads/${name}`)).json);
      expect(items.map(({ body }) => body)).toEqual(['One.', 'Three.']);
    }
    const first = messageListAnswer.parse((await api.get(`${path}/threads/3?after=0&limit=1`)).json);
    expect([first.items.map(({ seq }) => seq), first.next]).toEqual([[1], 1]);
    const second = messageListAnswer.parse((await api.get(`${path}/threads/3?after=1&limit=1`)).json);
    expect([second.items.map(({ seq }) => seq), second.next]).toEqual([[3], 3]);
    expect(messageListAnswer.parse((await api.get(`${path}/threads/3?after=3`)).json)).toEqual({ items: [] });
  });
});

describe('delivering a message again', () => {
  test('makes it unread and wakes the project, once for a key', async () => {
    await failTurn(api, 'team', 'ben');
    const { id } = await detail('1');
    api.wakes.length = 0;
    const again = () =>
      api.post(`${path}/messages/1/redeliver`, { agent: 'ben' }, { headers: { 'idempotency-key': 'again' } });
    const answers = [await again(), await again()];
    for (const answer of answers) {
      expect(answer.status).toBe(200);
      expect(redeliveredMessage.parse(answer.json)).toEqual({ id, agents: ['ben'] });
    }
    expect(api.wakes).toEqual(['team', 'team']);
    expect(await api.rows('team', `SELECT actor FROM events WHERE type = 'message.redelivered'`)).toEqual([
      { actor: 'admin' },
    ]);
    expect((await detail('1')).receipts).toMatchObject([{ agent: 'ben', unread: true, reads: [{ status: 'failed' }] }]);
    expect(refusal(await api.post(`${path}/messages/1/redeliver`))).toEqual({
      status: 409,
      code: 'redelivery-refused',
      detail: 'Message 1 is not undelivered: ben has it unread.',
    });
    expect(refusal(await api.post(`${path}/agents/ben/retry`))).toMatchObject({ code: 'agent-state-refused' });
  });
});
