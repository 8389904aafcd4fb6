import { describe, expect, test } from '@jest/globals';
import { cancelActiveTurn } from '@suzumio/store/turns/cancel-turn';
import { postMessage } from '@suzumio/store/mail/post-message';
import { resetAgent } from '@suzumio/store/turns/agent-transitions';
import { retryTurn } from '@suzumio/store/turns/retry-turn';
import { teamYaml } from '../../../../test/support/cell.js';
import { type Team, teams } from '../team.js';

const makeTeam = teams();

/** A team in which these agents want to know of the others' turns. */
const subscribed = (wishes: Readonly<Record<string, string>>) =>
  makeTeam(
    Object.entries(wishes).reduce(
      (yaml, [agent, notices]) => yaml.replace(`${agent}: { `, `${agent}: { notices: ${notices}, `),
      teamYaml,
    ),
  );

interface Notice {
  recipient: string;
  sender: string;
  kind: string;
  priority: string;
  body: string;
}

const notices = (of: Team) =>
  of.rows<Notice>(`SELECT recipient, sender, kind, priority, body FROM messages WHERE sender = 'system' ORDER BY seq`);
const bodies = (of: Team) => notices(of).map(({ recipient, body }) => `${recipient}: ${body}`);

describe('an agent that subscribes', () => {
  test('is told when turns of others start, finish and fail, by a message of the system', async () => {
    const team = await subscribed({ cat: '[started, finished, errored]' });
    await team.complete(await team.work('ada'));
    expect(notices(team)).toEqual([
      { recipient: 'cat', sender: 'system', kind: 'event', priority: 'P3', body: 'ada started turn 1 (ada:1).' },
      { recipient: 'cat', sender: 'system', kind: 'event', priority: 'P3', body: 'ada finished turn 1 (ada:1).' },
    ]);
    expect(team.unread('cat')).toBe(2);
    await team.fail(await team.work('ben'), 'time-limit', `The time limit (1 s)\nis reached. ${'x'.repeat(1000)}`);
    const [, , , failed] = notices(team);
    expect(failed?.body).toMatch(
      /^ben errored in turn 1 \(ben:1\), attempt 1: time-limit: The time limit \(1 s\) is reached\. x+…$/,
    );
    expect(failed?.body.length).toBeLessThan(400);
  });

  test('is told of nothing else, and not of its own turns', async () => {
    const team = await subscribed({ cat: '[errored]', ada: '[finished]' });
    await team.complete(await team.work('ada'));
    await team.complete(await team.work('cat'));
    expect(bodies(team)).toEqual(['ada: cat finished turn 1 (cat:1).']);
  });

  test('is told in the transaction of what happened, of a turn that was cancelled too', async () => {
    const team = await subscribed({ cat: '[errored]' });
    const { turn } = await team.work('ada');
    await team.write((tx) => cancelActiveTurn(tx, turn, 'test'));
    expect(bodies(team)).toHaveLength(1);
    expect(bodies(team)[0]).toMatch(/^cat: Turn 1 \(ada:1\) of ada was cancelled: .*\.$/);
    // One that nobody had claimed never started.
    await team.mail('ben');
    await team.schedule();
    await team.write((tx) => cancelActiveTurn(tx, team.activeTurn('ben') ?? '', 'test'));
    expect(bodies(team)).toHaveLength(1);
  });

  test('is told once of a turn, however many attempts it takes', async () => {
    const team = await subscribed({ cat: '[started, finished, errored]' });
    const first = await team.work('ada');
    await team.fail(first, 'lease-expired');
    team.advance(60_000);
    await team.fail(await team.begin(first.turn), 'non-zero-exit');
    await team.write((tx) => retryTurn(tx, 'ada', 'test'));
    await team.complete(await team.begin(first.turn));
    expect(bodies(team).map((body) => body.slice(0, 18))).toEqual([
      'cat: ada started t',
      'cat: ada errored i',
      'cat: ada finished ',
    ]);
  });
});

describe('a notice never answers a notice', () => {
  test('two agents that subscribe to each other come to rest', async () => {
    const team = await subscribed({ ada: '[started, finished, errored]', ben: '[started, finished, errored]' });
    await team.complete(await team.work('ada'));
    let turns = 0;
    for (; turns < 20; turns += 1) {
      const [turn] = await team.schedule();
      if (turn === undefined) break;
      await team.complete(await team.begin(turn));
    }
    // Ben read what became of Ada's turn; that is the end of it.
    expect(turns).toBe(1);
    expect(bodies(team)).toEqual(['ben: ada started turn 1 (ada:1).', 'ben: ada finished turn 1 (ada:1).']);
  });

  test('nor does a turn that fails over notices alone; other mail beside them counts', async () => {
    const team = await subscribed({ ada: '[errored]', ben: '[finished]' });
    await team.complete(await team.work('ada'));
    const [turn = ''] = await team.schedule();
    await team.fail(await team.begin(turn), 'non-zero-exit');
    expect(bodies(team)).toEqual(['ben: ada finished turn 1 (ada:1).']);
    await team.write((tx) => resetAgent(tx, 'ben', 'test', { redeliver: true }));
    await team.fail(await team.work('ben'), 'non-zero-exit');
    expect(bodies(team)[1]).toMatch(/^ada: ben errored/);
  });
});

test('nobody is told where nobody asks', async () => {
  const team = await makeTeam();
  await team.complete(await team.work('ada'));
  expect(notices(team)).toEqual([]);
});

const wishes = ['notices: [finished]', 'notices: [started, finished]'];
test.each(wishes)('a loop through %s is noticed as one, turn by turn', async (wish) => {
  const team = await makeTeam(
    `${teamYaml.replace('ada: { ', `ada: { ${wish}, `)}protection: { exchanges: 3, sameMail: off }\n`,
  );
  await team.mail('ada');
  for (let turns = 0; turns < 20; turns += 1) {
    const [turn] = await team.schedule();
    if (turn === undefined) break;
    const begun = await team.begin(turn);
    // Ada writes to Ben whatever happens, and is told whenever he has read it.
    if (team.activeTurn('ada') === turn) {
      await team.write((tx) =>
        postMessage(tx, { sender: 'ada', recipient: 'ben', priority: 'P1', body: 'And?', actor: 'ada', turn }),
      );
    }
    await team.complete(begun);
  }
  expect(team.rows('SELECT id FROM agents WHERE paused_json IS NOT NULL ORDER BY id')).toEqual([
    { id: 'ada' },
    { id: 'ben' },
  ]);
  // Ada had heard of three turns of Ben, however many notices it took.
  expect(team.rows(`SELECT 1 FROM turns WHERE agent_id = 'ben' AND status = 'completed'`)).toHaveLength(3);
});
