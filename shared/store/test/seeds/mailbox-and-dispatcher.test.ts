import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { listEvents } from '@suzumio/store/projects/events';
import { findMessage, listInbox, listMessages, listThread } from '@suzumio/store/mail/messages';
import { listTasks } from '@suzumio/store/mail/tasks';
import { writeMessage } from '@suzumio/store/mail/write-message';
import { startAgent, stopAgent } from '@suzumio/store/turns/agent-transitions';
import { assignTask } from '@suzumio/store/mail/assign-task';
import { broadcast } from '@suzumio/store/mail/broadcast';
import { postMessage } from '@suzumio/store/mail/post-message';
import { redeliverMessage } from '@suzumio/store/mail/redeliver-message';
import { replyToMessage } from '@suzumio/store/mail/reply-to-message';
import { type TestCell, testCell } from '../../../../test/support/cell.js';
import { deskYaml, said } from '../desk.js';
import { makeTeam, start, type Team } from '../team.js';

/**
 * What teams of agents with mailboxes promise, a test for each promise. Those about profiles and about the hands that
 * carry mail to code of the host have tests of their own.
 */

let testing: TestCell;
let desk: Team;
beforeEach(async () => {
  testing = await testCell();
  testing.setNow(start);
  desk = await makeTeam(testing, await testing.create(deskYaml));
});
afterEach(() => testing.close());

/** Everything ends, and begins anew from what is on disk. */
const restart = async () => {
  await testing.restart();
  desk = await makeTeam(testing, 'desk');
};
const page = { limit: 100 };
const reader = () => desk.store.reader;
const send = (sender: string, recipient: string) => desk.write((tx) => postMessage(tx, { ...said(sender), recipient }));
const assign = (role: string, team?: string) => desk.write((tx) => assignTask(tx, { ...said('boss'), role, team }));
const reply = (sender: string, message: string, task?: 'done') =>
  desk.write((tx) => replyToMessage(tx, { ...said(sender), message, task }));
const announce = (team?: string) => desk.write((tx) => broadcast(tx, { ...said('amy'), team }));
/** Gives an agent its turn, and ends it after what it does. */
async function turn(agent: string, work: () => Promise<unknown> = () => Promise.resolve()): Promise<void> {
  await desk.schedule();
  const begun = await desk.begin(desk.activeTurn(agent) ?? '');
  await work();
  await desk.complete(begun);
}

describe('the mailbox', () => {
  test('gives each agent an inbox that outlives the process', async () => {
    const { id } = await send('user', 'amy');
    await restart();
    expect(listInbox(reader(), { ...page, agent: 'amy', undelivered: false }).items).toMatchObject([
      { id, body: 'From user.', recipients: [{ agent: 'amy', turn: null }] },
    ]);
    await turn('amy');
    expect(desk.unread('amy')).toBe(0);
  });

  test('keeps on disk what is unread, what was read, threads, announcements and what answers what', async () => {
    const first = await send('boss', 'amy');
    await turn('amy', () => reply('amy', first.id));
    const announced = await announce('north');
    const before = listMessages(reader(), page).items;
    await restart();
    expect(listMessages(reader(), page).items).toEqual(before);
    expect(findMessage(reader(), first.id)?.recipients).toMatchObject([{ agent: 'amy', readAt: expect.any(String) }]);
    expect(listThread(reader(), first.id, page).items).toMatchObject([{ id: first.id }, { replyTo: first.id }]);
    expect(findMessage(reader(), announced.id)?.recipients).toMatchObject([{ agent: 'bob', turn: null }]);
    await turn('boss');
    expect(desk.unread('boss')).toBe(0);
  });

  test('lets an agent that is away get work, and answer when it is back', async () => {
    await desk.write((tx) => stopAgent(tx, 'amy', 'test', { now: false }));
    const { id } = await send('boss', 'amy');
    expect(await desk.schedule()).toEqual([]);
    await restart();
    desk.advance(7 * 24 * 3_600_000);
    await desk.write((tx) => startAgent(tx, 'amy', 'test'));
    await turn('amy', () => reply('amy', id));
    await turn('boss');
    expect(listThread(reader(), id, page).items).toMatchObject([
      { sender: 'boss' },
      { sender: 'amy', recipient: 'boss' },
    ]);
  });

  test('hides nothing: every message can be looked at, followed to its thread, and read once more', async () => {
    const { id } = await send('boss', 'amy');
    await desk.schedule();
    await desk.fail(await desk.begin(desk.activeTurn('amy') ?? ''), 'non-zero-exit');
    expect(findMessage(reader(), id)).toMatchObject({ recipients: [{ agent: 'amy', undelivered: true }] });
    await desk.write((tx) => redeliverMessage(tx, id, { actor: 'test' }));
    expect(desk.unread('amy')).toBe(1);
    const created = listEvents(reader(), page).items.filter(({ type }) => type === 'message.created');
    expect(created).toMatchObject([{ agent: 'boss', data: { message: id, kind: 'direct', thread: id } }]);
  });
});

describe('a message of the kind', () => {
  const written = () => listMessages(reader(), { limit: 1 }).items[0];

  test('task gives one agent a piece of work', async () => {
    const { id, assignee } = await assign('writer');
    expect(written()).toMatchObject({ id, kind: 'task', sender: 'boss', recipient: assignee });
    expect(listTasks(reader(), page).items).toMatchObject([{ id, assignee: 'dan', state: 'open' }]);
  });

  test('reply is tied to the message that it follows up', async () => {
    const { id } = await send('boss', 'amy');
    await turn('amy', () => reply('amy', id));
    expect(written()).toMatchObject({ kind: 'reply', replyTo: id, threadId: id, recipient: 'boss' });
  });

  test('broadcast reaches all of a team but its sender, as one message', async () => {
    await announce('north');
    expect(written()).toMatchObject({ kind: 'broadcast', recipient: '@north', recipients: [{ agent: 'bob' }] });
    expect(listMessages(reader(), page).items).toHaveLength(1);
  });

  test('event tells what the system itself has to say', async () => {
    const address = { recipient: 'boss', agents: ['boss'] };
    await desk.write((tx) => writeMessage(tx, said('system', { body: 'amy finished.' }), address, { kind: 'event' }));
    expect(written()).toMatchObject({ kind: 'event', sender: 'system' });
    await desk.schedule();
    const { turn: id } = await desk.begin(desk.activeTurn('boss') ?? '');
    expect(desk.turn(id)?.prompt).toContain(' from system to boss, P1, event, thread ');
  });
});

describe('the dispatcher', () => {
  test('sends to one, answers in a thread, announces to a team and assigns by role', async () => {
    const sent = await send('boss', 'amy');
    await turn('amy', () => reply('amy', sent.id));
    await announce('north');
    await assign('writer');
    expect(listMessages(reader(), page).items.map(({ kind, recipient }) => [kind, recipient])).toEqual([
      ['direct', 'amy'],
      ['reply', 'boss'],
      ['broadcast', '@north'],
      ['task', 'dan'],
    ]);
  });

  test('assigns by role within a team, to whoever has the least unread mail', async () => {
    await send('user', 'amy');
    expect(await assign('researcher', 'north')).toMatchObject({ assignee: 'bob' });
    expect(await assign('researcher', 'south')).toMatchObject({ assignee: 'cleo' });
    expect(await assign('researcher')).toMatchObject({ assignee: 'amy' });
  });

  test('balances between two that share a role', async () => {
    const assignees: string[] = [];
    for (let n = 0; n < 10; n += 1) assignees.push((await assign('researcher', 'north')).assignee);
    expect(assignees.filter((id) => id === 'amy')).toHaveLength(5);
    expect([desk.unread('amy'), desk.unread('bob')]).toEqual([5, 5]);
  });

  test('lets a manager hand out work and sum up the answers without doing any of it', async () => {
    const tasks = [await assign('researcher'), await assign('researcher'), await assign('researcher')];
    for (const { id, assignee } of tasks) await turn(assignee, () => reply(assignee, id, 'done'));
    expect(listTasks(reader(), { ...page, assigner: 'boss', state: 'done' }).items).toHaveLength(3);
    await desk.schedule();
    const { turn: id } = await desk.begin(desk.activeTurn('boss') ?? '');
    expect(desk.turn(id)?.prompt).toContain('# Unread mail: 3\n');
    expect(desk.rows(`SELECT DISTINCT assignee FROM tasks ORDER BY assignee`)).toEqual(
      ['amy', 'bob', 'cleo'].map((assignee) => ({ assignee })),
    );
  });

  test('leaves a team able to go on after every process has ended in the middle of its work', async () => {
    const { id, assignee } = await assign('writer');
    await restart();
    await turn(assignee, async () => {
      await restart();
      await reply(assignee, id, 'done');
    });
    await restart();
    await turn('boss');
    expect(listThread(reader(), id, page).items.map(({ kind, sender }) => [kind, sender])).toEqual([
      ['task', 'boss'],
      ['reply', 'dan'],
    ]);
    expect(listTasks(reader(), page).items).toMatchObject([{ id, state: 'done' }]);
  });
});
