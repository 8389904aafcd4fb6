import { describe, expect, test } from '@jest/globals';
import { listTasks } from '@suzumio/store/mail/tasks';
import { stopAgent } from '@suzumio/store/turns/agent-transitions';
import { assignTask } from '@suzumio/store/mail/assign-task';
import { pauseAgent, pauseProject } from '@suzumio/store/protection/pause';
import { replyToMessage } from '@suzumio/store/mail/reply-to-message';
import { deskYaml, said } from '../desk.js';
import { refusedAs, type Team, teams } from '../team.js';

const team = teams();
const assign = (of: Team, role: string, change: { team?: string; sender?: string; body?: string } = {}) => {
  const { sender = 'boss', team: name, body = 'Find it.' } = change;
  return of.write((tx) =>
    assignTask(tx, { ...said(sender, { body }), role, ...(name === undefined ? {} : { team: name }) }),
  );
};
const assignees = async (of: Team, count: number, change: Parameters<typeof assign>[2] = {}) => {
  const chosen: string[] = [];
  for (let n = 0; n < count; n += 1) chosen.push((await assign(of, 'researcher', change)).assignee);
  return chosen;
};

describe('a task', () => {
  test('is a message to its assignee, an open task and two events', async () => {
    const of = await team(deskYaml);
    const before = of.events().length;
    const { id, assignee, recipients } = await assign(of, 'writer', { body: 'Write it up.\n\nSoon.' });
    expect({ assignee, recipients }).toEqual({ assignee: 'dan', recipients: ['dan'] });
    expect(of.rows('SELECT id, kind, recipient, thread_id, reply_to FROM messages')).toEqual([
      { id, kind: 'task', recipient: 'dan', thread_id: id, reply_to: null },
    ]);
    expect(listTasks(of.store.reader, { limit: 10 }).items).toMatchObject([
      {
        id,
        assigner: 'boss',
        assignee: 'dan',
        role: 'writer',
        team: null,
        state: 'open',
        excerpt: 'Write it up. Soon.',
      },
    ]);
    expect(of.unread('dan')).toBe(1);
    expect(of.events().slice(before)).toEqual(['message.created', 'task.assigned']);
  });

  test('goes to each of a role in turn, as their inboxes fill', async () => {
    const of = await team(deskYaml);
    expect(await assignees(of, 6)).toEqual(['amy', 'bob', 'cleo', 'amy', 'bob', 'cleo']);
  });

  test('evens out what mail of other kinds has done', async () => {
    const of = await team(deskYaml);
    for (const recipient of ['amy', 'amy', 'bob']) await of.mail(recipient);
    expect(await assignees(of, 5)).toEqual(['cleo', 'bob', 'cleo', 'amy', 'bob']);
  });

  test('goes to whoever has fewest unfinished tasks where nobody has unread mail', async () => {
    const of = await team(deskYaml);
    await assign(of, 'researcher');
    const [turn = ''] = await of.schedule();
    await of.complete(await of.begin(turn));
    expect(await assignees(of, 1)).toEqual(['bob']);
  });

  test('no longer counts once it is done or declined', async () => {
    const of = await team(deskYaml);
    const { id } = await assign(of, 'researcher', { team: 'north' });
    const [turn = ''] = await of.schedule();
    const begun = await of.begin(turn);
    await of.write((tx) => replyToMessage(tx, { ...said('amy', begun), message: id, task: 'done' }));
    await of.complete(begun);
    await of.complete(await of.work('bob'));
    // Both have had a turn and have nothing to do; amy's ended first.
    expect(await assignees(of, 1, { team: 'north' })).toEqual(['amy']);
  });

  test('goes to whoever has been idle longest, and to one that works last', async () => {
    const of = await team(deskYaml);
    for (const agent of ['cleo', 'amy']) {
      await of.complete(await of.work(agent));
      of.advance(1_000);
    }
    await of.work('bob');
    expect(await assignees(of, 3)).toEqual(['cleo', 'amy', 'bob']);
  });

  test.each(['researcher', ' RESEARCHER ', 'Researcher'])('finds a role however it is written: %j', async (role) => {
    const of = await team(deskYaml);
    expect((await assign(of, role)).assignee).toBe('amy');
    expect(of.rows('SELECT role FROM tasks')).toEqual([{ role: role.trim() }]);
  });

  test('stays in a team where one is named, and may come from the person', async () => {
    const of = await team(deskYaml);
    await of.mail('cleo');
    expect(await assignees(of, 2, { team: 'south', sender: 'user' })).toEqual(['cleo', 'cleo']);
    expect(of.rows('SELECT DISTINCT team, assigner FROM tasks')).toEqual([{ team: 'south', assigner: 'user' }]);
    expect(await assignees(of, 1, { team: '@all' })).toEqual(['amy']);
  });

  test('waits like any mail while the whole project is paused', async () => {
    const of = await team(deskYaml);
    await of.write((tx) => pauseProject(tx, { actor: 'test' }));
    expect(await assignees(of, 1)).toEqual(['amy']);
    expect(await of.schedule()).toEqual([]);
  });

  test('never goes to whoever assigns it', async () => {
    const of = await team(deskYaml);
    expect(await assignees(of, 3, { team: 'north', sender: 'amy' })).toEqual(['bob', 'bob', 'bob']);
  });
});

describe('nobody is given work who', () => {
  const states: [string, (of: Team) => Promise<unknown>][] = [
    ['is stopped', (of) => of.write((tx) => stopAgent(tx, 'cleo', 'test', { now: false }))],
    [
      'is about to stop',
      async (of) => {
        await of.work('cleo');
        await of.write((tx) => stopAgent(tx, 'cleo', 'test', { now: false }));
      },
    ],
    ['has failed', async (of) => of.fail(await of.work('cleo'), 'non-zero-exit')],
    ['is paused', (of) => of.write((tx) => pauseAgent(tx, 'cleo', { actor: 'test' }))],
  ];

  test.each(states)('%s', async (reason, bring) => {
    const of = await team(deskYaml);
    await bring(of);
    expect(await assignees(of, 4)).not.toContain('cleo');
    const refused = assign(of, 'researcher', { team: 'south' });
    await expect(refused).rejects.toMatchObject(refusedAs('nobody-fits'));
    await expect(refused).rejects.toThrow(
      `Nobody in the team south with the role "researcher" can be given work now: cleo ${reason}. The roles there are researcher, writer.`,
    );
  });

  test('has used up its own budget', async () => {
    const of = await team(deskYaml.replace('cleo: { role', 'cleo: { budget: { turns: 1 }, role'));
    expect(await assignees(of, 1, { team: 'south' })).toEqual(['cleo']);
    const [turn = ''] = await of.schedule();
    await of.complete(await of.begin(turn));
    await expect(assign(of, 'researcher', { team: 'south' })).rejects.toThrow('cleo has used up its budget');
  });
});

describe('an assignment is refused', () => {
  test('where nobody has the role, with those that there are', async () => {
    const of = await team(deskYaml);
    const before = of.events();
    const refused = assign(of, 'singer');
    await expect(refused).rejects.toMatchObject(refusedAs('nobody-fits'));
    await expect(refused).rejects.toThrow(
      'Nobody in this project has the role "singer"; the roles there are manager, researcher, writer.',
    );
    await expect(assign(of, 'writer', { team: 'north' })).rejects.toThrow(
      'Nobody in the team north has the role "writer"; the roles there are researcher.',
    );
    expect(of.events()).toEqual(before);
  });

  test('where only the assigner has it', async () => {
    const of = await team(deskYaml);
    await expect(assign(of, 'manager')).rejects.toThrow('can be given work now: boss is who assigns it');
  });

  test('where there is no such team', async () => {
    const of = await team(deskYaml);
    await expect(assign(of, 'researcher', { team: 'west' })).rejects.toMatchObject(refusedAs('team-unknown'));
  });
});

describe('a list of tasks', () => {
  test('has those that were asked for, in their order', async () => {
    const of = await team(deskYaml);
    const ids: string[] = [];
    for (const sender of ['boss', 'user', 'boss']) ids.push((await assign(of, 'researcher', { sender })).id);
    const list = (filter: Partial<Parameters<typeof listTasks>[1]>) =>
      listTasks(of.store.reader, { limit: 10, ...filter }).items.map(({ id }) => ids.indexOf(id));
    expect(list({})).toEqual([0, 1, 2]);
    expect(list({ limit: 2 })).toEqual([1, 2]);
    expect(list({ limit: 2, after: 0 })).toEqual([0, 1]);
    expect(list({ assigner: 'boss' })).toEqual([0, 2]);
    expect(list({ assignee: 'bob' })).toEqual([1]);
    expect(list({ state: 'done' })).toEqual([]);
    expect(list({ state: 'open', assigner: 'user', assignee: 'bob' })).toEqual([1]);
    expect(() => list({ assignee: 'nobody' })).toThrow(expect.objectContaining({ code: 'agent-unknown' }));
  });
});
