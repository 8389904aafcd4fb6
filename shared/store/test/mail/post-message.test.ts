import { describe, expect, test } from '@jest/globals';
import { findMessage } from '@suzumio/store/mail/messages';
import { postMessage } from '@suzumio/store/mail/post-message';
import { refusedAs, teams } from '../team.js';

const team = teams();
const message = { sender: 'user', priority: 'P1' as const, body: 'Hello.', actor: 'test' };

describe('a message', () => {
  test('to an agent is one row, one unread copy and one event', async () => {
    const of = await team();
    const before = of.events().length;
    const posted = await of.mail('ada', { body: 'Write\n it.' });
    expect(posted).toMatchObject({ seq: 1, recipients: ['ada'] });
    expect(of.rows('SELECT recipient, priority, message_seq FROM inbox')).toEqual([
      { recipient: 'ada', priority: 'P1', message_seq: 1 },
    ]);
    expect(of.events().slice(before)).toEqual(['message.created']);
    expect(of.rows<{ data: string }>('SELECT data_json AS data FROM events ORDER BY seq DESC LIMIT 1')).toEqual([
      { data: expect.stringContaining('"excerpt":"Write it."') as unknown },
    ]);
    expect(findMessage(of.store.reader, posted.id)).toMatchObject({
      body: 'Write\n it.',
      threadId: posted.id,
      recipients: [{ agent: 'ada', turn: null, readAt: null }],
    });
  });

  test('reaches an agent by its display name', async () => {
    const of = await team();
    expect(await of.mail('Benny')).toMatchObject({ recipients: ['ben'] });
    expect(of.rows('SELECT recipient FROM messages')).toEqual([{ recipient: 'ben' }]);
  });

  test('to the person is in nobody’s inbox and wakes nobody', async () => {
    const of = await team();
    expect(await of.mail('user', { sender: 'ada' })).toMatchObject({ recipients: [] });
    expect(await of.schedule()).toEqual([]);
  });

  test('to a channel reaches every member but its sender', async () => {
    const of = await team();
    const post = (sender: string, channel: string) =>
      of.write((tx) => postMessage(tx, { ...message, sender, channel }));
    expect((await post('user', '#team')).recipients).toEqual(['ada', 'ben', 'cat']);
    expect((await post('ben', '#team')).recipients).toEqual(['ada', 'cat']);
    expect((await post('ben', '#pair')).recipients).toEqual(['ada']);
    expect((await post('ben', 'pair')).recipients).toEqual(['ada']);
    await expect(post('cat', '#pair')).rejects.toMatchObject(refusedAs('channel-not-member'));
  });

  test.each([
    ['recipient-unknown', { recipient: 'nobody' }],
    ['recipient-self', { sender: 'ada', recipient: 'ada' }],
    ['recipient-self', { sender: 'ben', recipient: 'Benny' }],
    ['channel-unknown', { channel: '#nothing' }],
    ['invalid-request', {}],
    ['invalid-request', { recipient: 'ada', channel: '#team' }],
  ] as const)('is refused as %s: %j', async (code, address) => {
    const of = await team();
    const before = of.events();
    await expect(of.write((tx) => postMessage(tx, { ...message, ...address }))).rejects.toMatchObject(refusedAs(code));
    expect(of.rows('SELECT * FROM messages')).toEqual([]);
    expect(of.events()).toEqual(before);
  });

  test('names two agents have are nobody’s', async () => {
    const of = await team(twins);
    await expect(of.mail('Twin')).rejects.toThrow('"Twin" is the name of one and two');
    await expect(of.mail('Twin')).rejects.toMatchObject(refusedAs('recipient-ambiguous'));
    expect(await of.mail('two')).toMatchObject({ recipients: ['two'] });
  });

  test('is accepted in every state of the project', async () => {
    const of = await team();
    for (const status of ['initialized', 'submitted', 'completed', 'stopped']) {
      await of.write((tx) => tx.run('UPDATE projects SET status = :status', { status }));
      await of.mail('ada');
      expect(await of.schedule()).toEqual([]);
    }
    expect(of.unread('ada')).toBe(4);
  });
});

describe('more urgent mail', () => {
  test('makes a turn that waits for its first claim more urgent; where its job is on the queue, that keeps its place', async () => {
    const of = await team();
    await of.mail('ada', { priority: 'P2' });
    const [turn = ''] = await of.schedule();
    await of.write((tx) => tx.run('UPDATE turns SET delivery = 1, delivered_at_ms = :now', { now: of.nowMs }));
    await of.mail('ada', { priority: 'P3' });
    expect(of.turn(turn)).toMatchObject({ priority: 'P2', delivered_at_ms: of.nowMs });
    await of.mail('ada', { priority: 'P0' });
    expect(of.turn(turn)).toMatchObject({ priority: 'P0', delivery: 1, delivered_at_ms: of.nowMs });
  });

  test('leaves a turn alone that runs, or whose prompt is written', async () => {
    const of = await team();
    const begun = await of.work('ada');
    await of.mail('ada', { priority: 'P0' });
    expect(of.turn(begun.turn)).toMatchObject({ status: 'running', priority: 'P1' });
    await of.fail(begun, 'container-vanished');
    await of.mail('ada', { priority: 'P0' });
    expect(of.turn(begun.turn)).toMatchObject({ status: 'queued', priority: 'P1' });
  });
});

const twins = `
name: twins
task: Be two.
backend: { runner: { mode: mock } }
agents:
  one: { role: twin, prompt: Be., displayName: Twin }
  two: { role: twin, prompt: Be., displayName: Twin }
`;
