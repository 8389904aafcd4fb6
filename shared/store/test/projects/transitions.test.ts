import { describe, expect, test } from '@jest/globals';
import { type ProjectStatus, projectStatuses } from '@suzumio/contract/model/project-status';
import { readStatus } from '@suzumio/store/projects/read-project';
import { startProject, stopProject } from '@suzumio/store/projects/project-transitions';
import { expireLease } from '@suzumio/store/turns/leases';
import { leaseMs, refusedAs, type Team, teams } from '../team.js';

const team = teams();
const stop = (of: Team, now = false) => of.write((tx) => stopProject(tx, 'test', { now }));
const restart = (of: Team) => of.write((tx) => startProject(tx, 'test'));

describe('what a project may become', () => {
  const actions = {
    start: (of: Team) => restart(of),
    stop: (of: Team) => stop(of),
    submit: (of: Team) =>
      of.submit({ turn: of.rows<{ id: string }>('SELECT id FROM turns')[0]?.id ?? '', attempt: 1 }, 'ada'),
    approve: (of: Team) => of.approve(),
    'request-changes': (of: Team) => of.requestChanges('ada'),
  };
  const allowed: Record<ProjectStatus, Partial<Record<keyof typeof actions, ProjectStatus>>> = {
    initialized: { start: 'running', stop: 'stopped' },
    running: { submit: 'submitted', stop: 'stopped' },
    submitted: { approve: 'completed', 'request-changes': 'running', stop: 'stopped' },
    completed: { 'request-changes': 'running' },
    stopped: { start: 'running', submit: 'submitted' },
  };
  const cases = projectStatuses.flatMap((from) =>
    (Object.keys(actions) as (keyof typeof actions)[]).map((action) => ({ from, action, to: allowed[from][action] })),
  );

  test.each(cases)('$action when $from: $to', async ({ from, action, to }) => {
    const of = await team();
    await of.work('ada');
    await of.write((tx) => tx.run('UPDATE projects SET status = :from', { from }));
    const before = of.events();
    if (to === undefined) {
      await expect(actions[action](of)).rejects.toMatchObject(refusedAs('transition-refused'));
      expect(of.status).toBe(from);
      expect(of.events()).toEqual(before);
    } else {
      await actions[action](of);
      expect(of.status).toBe(to);
    }
  });
});

describe('leaving running', () => {
  /** One turn that was never claimed, one that runs, one that waits for its second attempt. */
  async function three() {
    const of = await team();
    const running = await of.work('ben');
    const again = await of.work('cat');
    await of.fail(again, 'container-vanished');
    await of.mail('ada');
    await of.schedule();
    const unclaimed = of.activeTurn('ada') ?? '';
    return { of, running, again, unclaimed };
  }
  const statuses = ({ of, running, again, unclaimed }: Awaited<ReturnType<typeof three>>) =>
    [unclaimed, running.turn, again.turn].map((turn) => of.turn(turn)?.status);

  test('stop cancels what was never claimed and keeps its mail unread', async () => {
    const made = await three();
    await stop(made.of);
    expect(statuses(made)).toEqual(['cancelled', 'running', 'queued']);
    expect(made.of.stateOf('ada')).toBe('quiet');
    expect(made.of.unread('ada')).toBe(1);
    expect(made.of.rows("SELECT * FROM message_reads WHERE recipient = 'ada'")).toEqual([]);
    expect(made.of.events().slice(-2)).toEqual(['turn.cancelled', 'project.stopped']);
  });

  test('stop now cancels all, and what ran is fenced', async () => {
    const made = await three();
    await stop(made.of, true);
    expect(statuses(made)).toEqual(['cancelled', 'cancelled', 'cancelled']);
    await expect(made.of.complete(made.running)).rejects.toMatchObject(refusedAs('attempt-over'));
    await expect(made.of.call(made.running, 'ben')).rejects.toMatchObject(refusedAs('token-rejected'));
    expect(made.of.stateOf('ben')).toBe('quiet');
  });

  test('a running turn goes to its end, and mail that came meanwhile waits for the start', async () => {
    const { of, running } = await three();
    await stop(of);
    await of.mail('ben');
    await of.call(running, 'ben');
    await of.complete(running);
    expect(await of.schedule()).toEqual([]);
    await expect(of.claim(of.activeTurn('cat') ?? '')).rejects.toMatchObject(refusedAs('claim-refused'));
    await restart(of);
    expect(await of.schedule()).toHaveLength(2);
    expect(await of.begin(of.activeTurn('cat') ?? '')).toMatchObject({ attempt: 2 });
  });

  test('a stopped project is settled once nothing of it is queued or runs', async () => {
    const { of, running, again } = await three();
    await stop(of);
    expect(readStatus(of.store.reader)).toEqual({ status: 'stopped', settled: false });
    await of.complete(running);
    expect(readStatus(of.store.reader).settled).toBe(false);
    await restart(of);
    await of.complete(await of.begin(again.turn));
    await stop(of);
    expect(readStatus(of.store.reader)).toEqual({ status: 'stopped', settled: true });
  });
});

describe('a report', () => {
  test('ends what was not begun, keeps what runs, and is a new version each time', async () => {
    const of = await team();
    const writing = await of.work('ada');
    await of.mail('ben');
    await of.schedule();
    const unclaimed = of.activeTurn('ben') ?? '';
    expect(await of.submit(writing, 'ada')).toEqual({ version: 1 });
    expect(of.turn(unclaimed)?.status).toBe('cancelled');
    expect(of.turn(writing.turn)?.status).toBe('running');
    await of.complete(writing);
    await of.requestChanges('ada');
    await of.schedule();
    const again = await of.begin(of.activeTurn('ada') ?? '');
    expect(await of.submit(again, 'ada')).toEqual({ version: 2 });
    expect(of.rows<{ version: number }>('SELECT version FROM reports')).toEqual([{ version: 1 }, { version: 2 }]);
    expect(of.rows('SELECT report_path FROM projects')).toEqual([{ report_path: 'reports/x.md' }]);
  });

  test('of a turn that was still running when the project was stopped is taken', async () => {
    const of = await team();
    const writing = await of.work('ada');
    await stop(of);
    await of.submit(writing, 'ada');
    expect(of.status).toBe('submitted');
  });

  test('whose prompt is older than the latest request for changes is refused', async () => {
    const of = await team();
    const slow = await of.work('ben');
    await of.submit(await of.work('ada'), 'ada');
    await of.requestChanges('ada');
    await expect(of.submit(slow, 'ben')).rejects.toMatchObject(refusedAs('stale-submit'));
    expect(of.status).toBe('running');
    await of.complete(slow);
    await of.submit(await of.work('ben'), 'ben');
    expect(of.status).toBe('submitted');
  });

  test('approval ends and fences what still runs', async () => {
    const of = await team();
    const writing = await of.work('ada');
    const other = await of.work('ben');
    await of.submit(writing, 'ada');
    await of.approve();
    expect([writing.turn, other.turn].map((turn) => of.turn(turn)?.status)).toEqual(['cancelled', 'cancelled']);
    for (const attempt of [writing, other]) {
      await expect(of.complete(attempt)).rejects.toMatchObject(refusedAs('attempt-over'));
      await expect(of.fail(attempt, 'time-limit')).rejects.toMatchObject(refusedAs('attempt-over'));
    }
    await expect(of.call(other, 'ben')).rejects.toMatchObject(refusedAs('token-rejected'));
    of.advance(leaseMs);
    expect(await of.write((tx) => expireLease(tx, other))).toBeUndefined();
    expect(of.events().at(-1)).toBe('project.completed');
  });
});

describe('a request for changes', () => {
  test('is a message of the person, which starts a turn', async () => {
    const of = await team();
    const writing = await of.work('ada');
    await of.submit(writing, 'ada');
    await of.complete(writing);
    const message = await of.requestChanges('Benny');
    expect(message.recipients).toEqual(['ben']);
    expect(of.status).toBe('running');
    expect(of.rows('SELECT sender, recipient, priority, body FROM messages ORDER BY seq DESC LIMIT 1')).toEqual([
      { sender: 'user', recipient: 'ben', priority: 'P1', body: 'Again, please.' },
    ]);
    expect(await of.schedule()).toHaveLength(1);
    expect(of.events().slice(-3)).toEqual(['project.changes-requested', 'message.created', 'turn.queued']);
  });

  test.each(['user', 'nobody'])('goes to an agent, not to %s', async (recipient) => {
    const of = await team();
    await of.submit(await of.work('ada'), 'ada');
    const before = of.events();
    await expect(of.requestChanges(recipient)).rejects.toMatchObject(refusedAs('recipient-unknown'));
    expect(of.status).toBe('submitted');
    expect(of.events()).toEqual(before);
  });
});
