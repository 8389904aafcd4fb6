import { beforeEach, describe, expect, test } from '@jest/globals';
import type { TaskMove } from '@suzumio/contract/model/task-states';
import { keptInput } from '@suzumio/store/turns/kept-input';
import { findMessage } from '@suzumio/store/mail/messages';
import { listTasks } from '@suzumio/store/mail/tasks';
import { resetAgent } from '@suzumio/store/turns/agent-transitions';
import { assignTask } from '@suzumio/store/mail/assign-task';
import { broadcast } from '@suzumio/store/mail/broadcast';
import { type NewReply, replyToMessage } from '@suzumio/store/mail/reply-to-message';
import { writeMessage } from '@suzumio/store/mail/write-message';
import { deskYaml, said } from '../desk.js';
import { type Begun, refusedAs, type Team, teams } from '../team.js';

const team = teams();
let of: Team;
beforeEach(async () => {
  of = await team(deskYaml);
});

const reply = (message: string, sender: string, change: Partial<NewReply> = {}) =>
  of.write((tx) => replyToMessage(tx, { ...said(sender), message, ...change }));
/** The agent's next turn, whose prompt holds what it had unread. */
const readBy = async (agent: string): Promise<Begun> => {
  await of.schedule();
  return of.begin(of.activeTurn(agent) ?? '');
};

describe('a reply', () => {
  test('goes to whoever wrote what it answers, and stays in the thread', async () => {
    const first = await of.mail('amy', { sender: 'boss', actor: 'boss' });
    const begun = await readBy('amy');
    const answer = await reply(first.id, 'amy', { turn: begun.turn, priority: 'P0' });
    expect(answer).toMatchObject({ recipients: ['boss'], threadId: first.id, to: 'boss', task: null });
    expect(findMessage(of.store.reader, answer.id)).toMatchObject({
      kind: 'reply',
      sender: 'amy',
      recipient: 'boss',
      channel: null,
      priority: 'P0',
      threadId: first.id,
      replyTo: first.id,
      turn: begun.turn,
    });
    await readBy('boss');
    expect(await reply(answer.id, 'boss')).toMatchObject({ recipients: ['amy'], threadId: first.id });
    expect(of.rows('SELECT DISTINCT thread_id FROM messages')).toEqual([{ thread_id: first.id }]);
  });

  test('shows in its reader’s prompt what it answers', async () => {
    const first = await of.mail('amy', { sender: 'boss', actor: 'boss' });
    await readBy('amy');
    await reply(first.id, 'amy');
    const { turn } = await readBy('boss');
    expect(of.turn(turn)?.prompt).toContain(` from amy to boss, P1, in reply to ${first.id}, thread ${first.id}, `);
  });

  test('goes elsewhere where that is said: to another agent, the person, or a channel', async () => {
    const { id } = await of.mail('amy', { sender: 'boss', actor: 'boss' });
    await readBy('amy');
    expect(await reply(id, 'amy', { recipient: 'cleo' })).toMatchObject({ recipients: ['cleo'], to: 'cleo' });
    expect(await reply(id, 'amy', { recipient: 'user' })).toMatchObject({ recipients: [], to: 'user' });
    expect(await reply(id, 'amy', { channel: '#north' })).toMatchObject({ recipients: ['bob'], to: '#north' });
    expect(of.rows('SELECT DISTINCT kind, thread_id FROM messages WHERE reply_to IS NOT NULL')).toEqual([
      { kind: 'reply', thread_id: id },
    ]);
  });

  test('of the person goes to the agent that wrote, whether the person had that mail or not', async () => {
    const { id } = await of.mail('user', { sender: 'amy', actor: 'amy' });
    expect(await reply(id, 'user')).toMatchObject({ recipients: ['amy'] });
    const between = await of.mail('bob', { sender: 'cleo', actor: 'cleo' });
    expect(await reply(between.id, 'user')).toMatchObject({ recipients: ['cleo'] });
    expect(await reply('1', 'user')).toMatchObject({ recipients: ['amy'], threadId: id });
  });

  test('to one’s own message needs an address', async () => {
    const { id } = await of.mail('amy', { sender: 'boss', actor: 'boss' });
    await expect(reply(id, 'boss')).rejects.toMatchObject(refusedAs('recipient-self'));
    expect(await reply(id, 'boss', { recipient: 'amy' })).toMatchObject({ threadId: id, recipients: ['amy'] });
  });

  test('to an announcement goes to whoever made it', async () => {
    const { id } = await of.write((tx) => broadcast(tx, { ...said('boss'), team: 'north' }));
    await readBy('bob');
    expect(await reply(id, 'bob')).toMatchObject({ recipients: ['boss'], threadId: id });
  });

  test.each([
    ['recipient-unknown', { recipient: 'nobody' }],
    ['recipient-self', { recipient: 'Amelia' }],
    ['channel-unknown', { channel: '#nothing' }],
    ['invalid-request', { recipient: 'bob', channel: '#north' }],
    ['attachment-unknown', { attachments: ['none.md'] }],
    ['task-unknown', { task: 'done' }],
  ] as const)('is refused as %s: %j', async (code, change) => {
    const { id } = await of.mail('amy');
    await readBy('amy');
    const before = of.events();
    await expect(reply(id, 'amy', change)).rejects.toMatchObject(refusedAs(code));
    expect(of.events()).toEqual(before);
    expect(of.rows('SELECT 1 FROM messages WHERE reply_to IS NOT NULL')).toEqual([]);
  });
});

describe('an agent can answer', () => {
  test('nothing that is not there, nor what is in another project', async () => {
    await expect(reply('msg_01KB3Z8T5V0000000000000001', 'amy')).rejects.toMatchObject(refusedAs('message-unknown'));
    const project = await of.testing.create(deskYaml.replace('name: desk', 'name: other'));
    const foreign = await of.testing.write(project, (tx) => broadcast(tx, said('user')));
    await expect(reply(foreign.id, 'user')).rejects.toMatchObject(refusedAs('message-unknown'));
  });

  test('nothing that others were sent', async () => {
    const { id } = await of.mail('amy');
    await readBy('amy');
    await expect(reply(id, 'bob')).rejects.toMatchObject(refusedAs('message-unseen'));
  });

  test('mail once a prompt of its has held it, not while it waits unread', async () => {
    const { id } = await of.mail('amy');
    await expect(reply(id, 'amy')).rejects.toMatchObject(refusedAs('message-unseen'));
    await of.complete(await readBy('amy'));
    expect(await reply(id, 'amy')).toMatchObject({ threadId: id });
  });

  test('unread mail that it has read by its id, in the turn in which it did', async () => {
    const begun = await of.work('amy');
    const { id } = await of.mail('amy', { body: 'And this.' });
    const { turn } = begun;
    await expect(reply(id, 'amy', { turn })).rejects.toMatchObject(refusedAs('message-unseen'));
    await of.call(begun, 'amy', { step: '0.0', tool: 'messages.read', input: keptInput({ id }) });
    expect(await reply(id, 'amy', { turn })).toMatchObject({ threadId: id });
    await of.complete(begun);
    const next = await of.work('bob');
    await expect(reply(id, 'bob', { turn: next.turn })).rejects.toMatchObject(refusedAs('message-unseen'));
  });

  test('no mail that was put back unread, until it is read anew', async () => {
    const { id } = await of.mail('amy');
    await of.fail(await readBy('amy'), 'non-zero-exit');
    expect(await reply(id, 'amy')).toMatchObject({ threadId: id });
    await of.write((tx) => resetAgent(tx, 'amy', 'test', { redeliver: true }));
    await expect(reply(id, 'amy')).rejects.toMatchObject(refusedAs('message-unseen'));
    await readBy('amy');
    expect(await reply(id, 'amy')).toMatchObject({ threadId: id });
  });

  test('no notice of the system', async () => {
    const notice = await of.write((tx) =>
      writeMessage(tx, said('system'), { recipient: 'amy', agents: ['amy'] }, { kind: 'event' }),
    );
    await readBy('amy');
    for (const sender of ['amy', 'user']) {
      for (const recipient of [undefined, 'bob']) {
        await expect(reply(notice.id, sender, { recipient })).rejects.toMatchObject(refusedAs('message-unanswerable'));
      }
    }
  });
});

describe('a reply about a task', () => {
  const assigned = async () => {
    const task = await of.write((tx) => assignTask(tx, { ...said('boss'), role: 'writer' }));
    await readBy('dan');
    return task;
  };
  const answer = (id: string, task: TaskMove, sender = 'dan') => reply(id, sender, { task });
  const taskOf = (id: string) => listTasks(of.store.reader, { limit: 10 }).items.find((task) => task.id === id);

  test('moves it, step by step, each with an event', async () => {
    const { id } = await assigned();
    of.advance(5_000);
    const accepted = await answer(id, 'accepted');
    expect(accepted).toMatchObject({ recipients: ['boss'], task: { id, state: 'accepted' } });
    const at = new Date(of.nowMs).toISOString();
    expect(taskOf(id)).toMatchObject({ state: 'accepted', stateMessage: accepted.id, stateAt: at });
    const done = await answer(id, 'done');
    expect(taskOf(id)).toMatchObject({ state: 'done', stateMessage: done.id });
    expect(of.events().slice(-4)).toEqual(['message.created', 'task.accepted', 'message.created', 'task.done']);
    expect(of.rows(`SELECT agent_id, actor, data_json FROM events WHERE type = 'task.done'`)).toEqual([
      { agent_id: 'dan', actor: 'dan', data_json: JSON.stringify({ task: id, assigner: 'boss', message: done.id }) },
    ]);
  });

  test.each([
    [['done'], 'accepted'],
    [['declined'], 'done'],
    [['accepted', 'declined'], 'accepted'],
  ] as const)('after %j cannot be %s, and is not written', async (moves, refused) => {
    const { id } = await assigned();
    for (const move of moves) await answer(id, move);
    const before = of.events();
    await expect(answer(id, refused)).rejects.toMatchObject(refusedAs('task-state-refused'));
    expect(of.events()).toEqual(before);
    expect(of.unread('boss')).toBe(moves.length);
    expect(taskOf(id)?.state).toBe(moves.at(-1));
  });

  test.each(['accepted', 'done', 'declined'] as const)('that is said again to be %s stays so', async (move) => {
    const { id } = await assigned();
    const first = await answer(id, move);
    const again = await answer(id, move);
    expect(again).toMatchObject({ recipients: ['boss'], task: { id, state: move } });
    expect(taskOf(id)).toMatchObject({ state: move, stateMessage: first.id });
    expect(of.events().filter((type) => type === `task.${move}`)).toHaveLength(1);
  });

  test('is told to whoever assigned it, whoever asked last', async () => {
    const { id } = await of.write((tx) => assignTask(tx, { ...said('boss'), role: 'writer' }));
    await of.complete(await readBy('dan'));
    const added = await reply(id, 'user', { body: 'In metric units, please.', recipient: 'dan' });
    await readBy('dan');
    expect(await reply(added.id, 'dan', { body: 'Of course.' })).toMatchObject({ to: 'user' });
    expect(await answer(added.id, 'done')).toMatchObject({ to: 'boss', recipients: ['boss'] });
  });

  test('is its assignee’s alone: neither the assigner nor the person nor a helper can move it', async () => {
    const { id } = await assigned();
    const asked = await reply(id, 'dan', { recipient: 'amy' });
    await readBy('amy');
    await expect(answer(asked.id, 'done', 'amy')).rejects.toMatchObject(refusedAs('task-not-assignee'));
    await expect(answer(asked.id, 'declined', 'user')).rejects.toMatchObject(refusedAs('task-not-assignee'));
    const refused = reply(id, 'boss', { task: 'done', recipient: 'dan' });
    await expect(refused).rejects.toMatchObject(refusedAs('task-not-assignee'));
    await expect(refused).rejects.toThrow('assigned to dan, and only dan can say that it is done');
    expect(taskOf(id)?.state).toBe('open');
  });

  test('may answer any message of the thread', async () => {
    const { id } = await assigned();
    const asked = await reply(id, 'dan', { body: 'How long?' });
    await readBy('boss');
    const answered = await reply(asked.id, 'boss', { body: 'A page.' });
    await of.complete({ turn: of.activeTurn('dan') ?? '', attempt: 1 });
    await readBy('dan');
    expect(await answer(answered.id, 'done')).toMatchObject({ threadId: id, task: { id, state: 'done' } });
  });

  test('leaves it as it is where it says nothing of it', async () => {
    const { id } = await assigned();
    await reply(id, 'dan');
    expect(taskOf(id)).toMatchObject({ state: 'open', stateMessage: null });
  });
});
