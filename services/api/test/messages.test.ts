import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { messageListAnswer, postedMessage } from '@suzumio/contract/operations/messages';
import { ProjectStore } from '@suzumio/store/projects/project-store';
import { type TestApi, testApi } from './support/api.js';
import { refusal } from './support/refusal.js';

let api: TestApi;
beforeAll(async () => {
  api = await testApi();
  await api.create();
});
afterAll(() => api.close());

const path = '/api/projects/team/messages';
const send = (body: unknown, headers: Record<string, string> = {}) => api.post(path, body, { headers });

describe('sending mail', () => {
  test('puts it into the inbox of whom it is addressed to and wakes the project', async () => {
    api.wakes.length = 0;
    const before = await sent();
    const direct = await send({ recipient: 'ada', body: 'To you.' });
    expect(direct.status).toBe(201);
    expect(postedMessage.parse(direct.json).recipients).toEqual(['ada']);
    const channel = postedMessage.parse((await send({ channel: '#pair', priority: 'P0', body: 'To both.' })).json);
    expect(channel.recipients).toEqual(['ada', 'ben']);
    const person = postedMessage.parse((await send({ channel: '#team', sender: 'user', body: 'To all.' })).json);
    expect(person.recipients).toEqual(['ada', 'ben', 'cat']);
    expect(api.wakes).toEqual(['team', 'team', 'team']);

    const { items } = messageListAnswer.parse((await api.get(`${path}?after=${String(before)}`)).json);
    expect(items.map(({ sender, actor, priority, body }) => [sender, actor, priority, body])).toEqual([
      ['user', 'admin', 'P1', 'To you.'],
      ['user', 'admin', 'P0', 'To both.'],
      ['user', 'admin', 'P1', 'To all.'],
    ]);
  });

  test('is done once for a key, and counted once', async () => {
    const before = await sent();
    const key = { 'idempotency-key': 'once' };
    const answers = await Promise.all([1, 2, 3].map(() => send({ recipient: 'ada', body: 'Once.' }, key)));
    expect(new Set(answers.map((answer) => answer.text)).size).toBe(1);
    expect(answers.map((answer) => answer.status)).toEqual([201, 201, 201]);
    expect(await sent()).toBe(before + 1);
    expect(await api.metrics.registry.getSingleMetricAsString('suzumio_mail_accepted_total')).toMatch(
      new RegExp(` ${String(before + 1)}$`, 'm'),
    );
    expect(refusal(await send({ recipient: 'ben', body: 'Once.' }, { 'idempotency-key': 'a b' })).code).toBe(
      'invalid-request',
    );
  });

  test('takes bodies up to 256 KiB, counted in bytes', async () => {
    const most = 'é'.repeat(128 * 1024);
    expect((await send({ recipient: 'ada', body: most })).status).toBe(201);
    expect(refusal(await send({ recipient: 'ada', body: `${most}!` }))).toMatchObject({
      status: 400,
      detail: 'The body is not valid: body: at most 262144 bytes.',
    });
  });

  test.each([
    [{ recipient: 'dan', body: 'x' }, 422, 'recipient-unknown', /no agent "dan".*ada, ben, cat, user/],
    [{ channel: '#tema', body: 'x' }, 422, 'channel-unknown', /no channel "#tema".*did you mean #team\?/],
    [{ recipient: 'user', body: 'x' }, 422, 'recipient-self', /cannot send mail to itself/],
    [{ recipient: 'ada', channel: '#team', body: 'x' }, 400, 'invalid-request', /a recipient or a channel, not both/],
    [{ body: 'x' }, 400, 'invalid-request', /needs a recipient or a channel/],
    [
      { recipient: 'ada', priority: 'P9', body: 'x' },
      422,
      'priority-unknown',
      /no priority "P9"; there are P0, P1, P2, P3/,
    ],
    [{ recipient: 'ada', sender: 'ben', body: 'x' }, 422, 'sender-forged', /Mail over HTTP is from "user"/],
    [{ recipient: 'ada', body: ' \n ' }, 400, 'invalid-request', /body: a message needs a text/],
    [{ recipient: 'ada' }, 400, 'invalid-request', /body: /],
    [{ recipient: 'ada', text: 'x' }, 400, 'invalid-request', /unknown field "text" \(known are recipient, /],
    [{ recipent: 'ada', body: 'x' }, 400, 'invalid-request', /unknown field "recipent" \(did you mean recipient\?\)/],
    [{ recipient: 7, body: 'x' }, 400, 'invalid-request', /recipient: .*string/],
    [[], 400, 'invalid-request', /object/],
  ])('refuses %j', async (body, status, code, detail) => {
    const before = await sent();
    const refused = refusal(await send(body));
    expect(refused).toMatchObject({ status, code });
    expect(refused.detail).toMatch(detail);
    expect(await sent()).toBe(before);
  });
});

describe('reading mail', () => {
  test('goes through all of it page by page', async () => {
    const total = await sent();
    const seen: number[] = [];
    let after: number | undefined = 0;
    while (after !== undefined) {
      const answer = await api.get(`${path}?limit=2&after=${String(after)}`);
      const page = messageListAnswer.parse(answer.json);
      expect(page.items.length).toBeLessThanOrEqual(2);
      seen.push(...page.items.map(({ seq }) => seq));
      after = page.next;
    }
    expect(seen).toHaveLength(total);
    expect(seen).toEqual([...seen].sort((a, b) => a - b));
    const newest = messageListAnswer.parse((await api.get(`${path}?limit=1`)).json);
    expect(newest.items.map(({ seq }) => seq)).toEqual(seen.slice(-1));
  });

  test.each([
    ['limit=0', /limit: expected a whole number from 1 to 1000/],
    ['limit=1001', /limit: expected a whole number from 1 to 1000/],
    ['limit=ten', /limit: expected a whole number/],
    ['limit=1&limit=2', /limit: /],
    ['after=-1', /after: expected a whole number/],
    ['limits=5', /unknown field "limits" \(did you mean limit\?\)/],
  ])('refuses ?%s', async (query, detail) => {
    const refused = refusal(await api.get(`${path}?${query}`));
    expect(refused).toMatchObject({ status: 400, code: 'invalid-request' });
    expect(refused.detail).toMatch(detail);
  });
});

async function sent(): Promise<number> {
  const [row] = await api.rows<{ count: number }>('team', 'SELECT count(*) AS count FROM messages');
  return row?.count ?? 0;
}

test.each(['SQLITE_FULL', 'SQLITE_IOERR_SHMSIZE', 'ENOSPC'])(
  'a search finds mail where the disk is full, which says %s: what has no room in the index is looked through',
  async (code) => {
    expect((await send({ recipient: 'ada', body: `Levels of ${code}.` })).status).toBe(201);
    const write = jest.spyOn(ProjectStore.prototype, 'write');
    write.mockRejectedValue(Object.assign(new Error('disk I/O error'), { code }));
    try {
      const found = await api.get(`${path}?search=${code}`);
      expect(found.status).toBe(200);
      expect(messageListAnswer.parse(found.json).items).toMatchObject([{ body: `Levels of ${code}.` }]);
      expect(write).toHaveBeenCalled();
    } finally {
      write.mockRestore();
    }
  },
);
