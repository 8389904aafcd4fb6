import { describe, expect, test } from '@jest/globals';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { defaultProtection } from '@suzumio/core/mail/protection';
import type { Pause } from '@suzumio/contract/model/pause';
import type { TaskMove } from '@suzumio/contract/model/task-states';
import { assignTask } from '@suzumio/store/mail/assign-task';
import { postMessage } from '@suzumio/store/mail/post-message';
import { resumeAgent } from '@suzumio/store/protection/pause';
import { publishArtifact } from '@suzumio/store/content/publish-artifact';
import { replyToMessage } from '@suzumio/store/mail/reply-to-message';
import { completeTurn } from '@suzumio/store/turns/complete-turn';
import { teamYaml, withModel } from '../../../../test/support/cell.js';
import { type Begun, type Team, teams } from '../team.js';

const makeTeam = teams();
const withProtection = (protection: string) => makeTeam(`${teamYaml}protection: ${protection}\n`);

/** A message that was written in no turn. */
const send = (of: Team, sender: string, to: string, body: string) =>
  of.mail(to.startsWith('#') ? '' : to, {
    sender,
    actor: sender,
    body,
    ...(to.startsWith('#') ? { recipient: undefined, channel: to } : {}),
  });

/** Texts that are nothing like each other. */
const words = ['apples', 'bridges', 'clouds', 'dinners', 'engines', 'forests', 'gardens', 'harbours'];
const various = (n: number) =>
  `${words[n % 8] ?? ''} ${words[Math.floor(n / 8) % 8] ?? ''} ${words[Math.floor(n / 64) % 8] ?? ''}`;

/** What an agent sends in one turn. */
async function sendAll(of: Team, { turn }: Begun, from: string, to: string, bodies: readonly string[]): Promise<void> {
  await of.write((tx) => {
    for (const body of bodies) {
      postMessage(tx, { sender: from, recipient: to, priority: 'P1', body, actor: from, turn });
    }
  });
}

/** A turn of an agent that has mail. */
async function next(of: Team, agent: string): Promise<Begun> {
  await of.schedule();
  return of.begin(of.activeTurn(agent) ?? '');
}

const reasons = (of: Team) =>
  of
    .rows<{ data_json: string }>(`SELECT data_json FROM events WHERE type = 'agent.paused'`)
    .map(({ data_json }) => (JSON.parse(data_json) as { reason: string }).reason);

/** Two agents answer each other, with something new each time. */
async function exchange(of: Team, times: number, from = 0): Promise<void> {
  for (let n = 0; n < times; n += 1) {
    await send(of, 'ada', 'ben', `To you ${various(from + n)}`);
    await send(of, 'ben', 'ada', `And to you ${various(from + n)}`);
  }
}

const paused = (of: Team): Record<string, Pause['limit']> =>
  Object.fromEntries(
    of
      .rows<{ id: string; paused_json: string | null }>(
        'SELECT id, paused_json FROM agents WHERE paused_json IS NOT NULL',
      )
      .map(({ id, paused_json }) => [id, (JSON.parse(paused_json ?? '{}') as Pause).limit]),
  );

describe('two agents that answer each other and nobody else', () => {
  test('are paused when they have done so as often as they may, with an event that says why', async () => {
    const team = await withProtection('{ exchanges: 5 }');
    await exchange(team, 4);
    expect(paused(team)).toEqual({});
    await exchange(team, 1, 4);
    expect(paused(team)).toEqual({ ada: 'protection.exchanges', ben: 'protection.exchanges' });
    const events = team.rows<{ agent_id: string; actor: string; data_json: string }>(
      `SELECT agent_id, actor, data_json FROM events WHERE type = 'agent.paused'`,
    );
    expect(events.map(({ agent_id, actor }) => [agent_id, actor])).toEqual([
      ['ben', 'system'],
      ['ada', 'system'],
    ]);
    expect(JSON.parse(events[0]?.data_json ?? '')).toEqual({
      limit: 'protection.exchanges',
      reason:
        'ben and ada have answered each other in 5 turns each within an hour, and neither heard from anybody else, finished a task, or published or submitted anything (protection.exchanges).',
    });
    // Their mail waits, and is not counted again.
    await exchange(team, 2, 5);
    expect(team.rows(`SELECT 1 FROM events WHERE type = 'agent.paused'`)).toHaveLength(2);
    expect(await team.schedule()).toEqual([]);
  });

  test('are paused where they do it in a channel that others read', async () => {
    const team = await withProtection('{ exchanges: 3 }');
    for (let n = 0; n < 3; n += 1) {
      await send(team, 'ada', '#team', `Here ${various(n)}`);
      await send(team, 'ben', '#team', `There ${various(n)}`);
    }
    expect(Object.keys(paused(team))).toEqual(['ada', 'ben']);
  });

  test('may write as many letters as they like in a turn: turns count', async () => {
    const team = await withProtection('{ exchanges: 3 }');
    let begun = await team.work('ada');
    const letters = Array.from({ length: 10 }, (_, n) => `Letter ${various(n)}`);
    for (let round = 1; round <= 3; round += 1) {
      expect(paused(team)).toEqual({});
      await sendAll(team, begun, 'ada', 'ben', letters);
      await team.complete(begun);
      const other = await next(team, 'ben');
      await sendAll(team, other, 'ben', 'ada', letters);
      await team.complete(other);
      if (round < 3) begun = await next(team, 'ada');
    }
    expect(Object.keys(paused(team))).toEqual(['ada', 'ben']);
    expect(reasons(team)[0]).toMatch(/^ben and ada have answered each other in 3 turns each within an hour/);
  });

  test('begin anew when one of them hears from a person, from a third, or publishes something', async () => {
    const team = await withProtection('{ exchanges: 3 }');
    const effects = [
      () => team.mail('ada'),
      () => send(team, 'cat', 'ben', 'Something else.'),
      () => publish(team, 'ada'),
    ];
    for (const [index, effect] of effects.entries()) {
      await exchange(team, 2, 3 * index);
      await effect();
    }
    await exchange(team, 2, 90);
    expect(paused(team)).toEqual({});
    await exchange(team, 1, 95);
    expect(Object.keys(paused(team))).toEqual(['ada', 'ben']);
  });

  test('may take all the time they want: what is older than an hour does not count', async () => {
    const team = await withProtection('{ exchanges: 3 }');
    for (let n = 0; n < 6; n += 1) {
      await exchange(team, 1, n);
      team.advance(31 * 60_000);
    }
    expect(paused(team)).toEqual({});
  });

  test('have a fresh allowance once they are resumed', async () => {
    const team = await withProtection('{ exchanges: 3 }');
    await exchange(team, 3);
    for (const agent of ['ada', 'ben']) await team.write((tx) => resumeAgent(tx, agent, { actor: 'test' }));
    await exchange(team, 2, 10);
    expect(paused(team)).toEqual({});
    await exchange(team, 1, 20);
    expect(Object.keys(paused(team))).toEqual(['ada', 'ben']);
  });

  test('are not a manager who writes to many, nor one who is written to without answering', async () => {
    const team = await withProtection('{ exchanges: 3, sameMail: off }');
    for (let n = 0; n < 10; n += 1) {
      for (const worker of ['ben', 'cat']) {
        await send(team, 'ada', worker, `Work ${various(n)}`);
        await send(team, worker, 'ada', `Done ${various(n)}`);
      }
    }
    for (let n = 0; n < 10; n += 1) await send(team, 'ben', 'cat', `News ${various(n)}`);
    expect(paused(team)).toEqual({});
  });
});

describe('two agents that hand work to each other', () => {
  /** Assigns something, and returns the task. */
  const assign = (of: Team, { turn }: Begun, sender: string, role: string, body: string) =>
    of.write((tx) => assignTask(tx, { sender, actor: sender, priority: 'P1', body, role, turn }));
  const answer = (of: Team, { turn }: Begun, message: string, task: TaskMove, body: string) =>
    of.write((tx) => replyToMessage(tx, { sender: 'ben', actor: 'ben', priority: 'P1', body, message, task, turn }));

  test('are paused where neither does any of it', async () => {
    const team = await withProtection('{ exchanges: 4 }');
    let begun = await team.work('ada');
    for (let n = 0; n < 4; n += 1) {
      expect(paused(team)).toEqual({});
      await assign(team, begun, 'ada', 'reader', `You do ${various(n)}`);
      await team.complete(begun);
      const other = await next(team, 'ben');
      await assign(team, other, 'ben', 'writer', `No, you do ${various(n)}`);
      await team.complete(other);
      if (n < 3) begun = await next(team, 'ada');
    }
    expect(paused(team)).toEqual({ ada: 'protection.exchanges', ben: 'protection.exchanges' });
  });

  test.each<[TaskMove, string[]]>([
    ['declined', ['ada', 'ben']],
    ['done', []],
  ])('and whose tasks come back %s are treated accordingly', async (move, expected) => {
    const team = await withProtection('{ exchanges: 4 }');
    let begun = await team.work('ada');
    for (let n = 0; n < 4; n += 1) {
      const { id } = await assign(team, begun, 'ada', 'reader', `Please do ${various(n)}`);
      await team.complete(begun);
      const other = await next(team, 'ben');
      await answer(team, other, id, move, `Well, ${various(n)}`);
      await team.complete(other);
      if (n < 3) begun = await next(team, 'ada');
    }
    expect(Object.keys(paused(team))).toEqual(expected);
  });

  test('may ask for the like of it as often as there is work', async () => {
    const team = await withProtection('{ sameMail: 3, exchanges: off }');
    for (let n = 0; n < 9; n += 1) {
      await team.write((tx) =>
        assignTask(tx, { sender: 'ada', actor: 'ada', priority: 'P1', body: `Check sheet ${n}.`, role: 'reader' }),
      );
    }
    expect(paused(team)).toEqual({});
    expect(team.rows('SELECT 1 FROM mail_repeats')).toEqual([]);
  });
});

describe('an agent that says the same again and again', () => {
  test('is paused, whatever numbers stand in it', async () => {
    const team = await withProtection('{ sameMail: 4 }');
    for (let n = 1; n <= 3; n += 1) await send(team, 'ada', 'ben', `Still waiting, ${n} minutes now.`);
    expect(paused(team)).toEqual({});
    await send(team, 'ada', 'ben', 'Still waiting,  4 minutes NOW!');
    expect(paused(team)).toEqual({ ada: 'protection.sameMail' });
    expect(reasons(team)).toEqual([
      'It has sent ben nearly the same message in 4 turns within an hour (protection.sameMail).',
    ]);
  });

  test('begins anew with something else, to somebody else, and when a person writes', async () => {
    const team = await withProtection('{ sameMail: 3 }');
    for (const [to, body] of [
      ['ben', 'Any news?'],
      ['ben', 'Any news?'],
      ['ben', 'Never mind.'],
      ['ben', 'Any news?'],
      ['cat', 'Any news?'],
      ['ben', 'Any news?'],
    ] as const) {
      await send(team, 'ada', to, body);
    }
    await team.mail('ada');
    await send(team, 'ada', 'ben', 'Any news?');
    await send(team, 'ada', 'ben', 'Any news?');
    expect(paused(team)).toEqual({});
  });

  test('may hand out much of the same in a turn: turns count', async () => {
    const team = await withProtection('{ sameMail: 3 }');
    const invoices = Array.from({ length: 10 }, (_, n) => `Please check invoice ${n}.`);
    for (let turns = 1; turns <= 3; turns += 1) {
      expect(paused(team)).toEqual({});
      await send(team, 'cat', 'ada', `Invoices came: ${various(turns)}`);
      const begun = await next(team, 'ada');
      await sendAll(team, begun, 'ada', 'ben', invoices);
      await team.complete(begun);
    }
    expect(paused(team)).toEqual({ ada: 'protection.sameMail' });
  });

  test('may say it to the person, whom nothing wakes', async () => {
    const team = await withProtection('{ sameMail: 3 }');
    for (let n = 0; n < 9; n += 1) await send(team, 'ada', 'user', `All is well at ${n}.`);
    expect(paused(team)).toEqual({});
    expect(team.rows('SELECT 1 FROM mail_repeats')).toEqual([]);
  });

  test('may do so in more turns than an honest pipeline has in an hour', async () => {
    const team = await makeTeam();
    for (let n = 1; n < defaultProtection.sameMail; n += 1) await send(team, 'ada', 'ben', `Part ${n} is ready.`);
    expect(defaultProtection.sameMail).toBe(120);
    expect(paused(team)).toEqual({});
    await send(team, 'ada', 'ben', 'Part 120 is ready.');
    expect(paused(team)).toEqual({ ada: 'protection.sameMail' });
  });

  test('may answer different questions alike', async () => {
    const team = await withProtection('{ sameMail: 3, exchanges: off }');
    for (let n = 0; n < 10; n += 1) {
      await send(team, 'ada', 'ben', `Please look after the ${various(n)}.`);
      await send(team, 'ben', 'ada', 'Done.');
    }
    expect(paused(team)).toEqual({});
  });
});

describe('turns from which nothing comes', () => {
  const turn = async (
    of: Team,
    agent: string,
    text: string,
    sender: string,
    snapshot?: string,
    meanwhile: (begun: Begun) => Promise<unknown> = () => Promise.resolve(),
  ) => {
    await of.mail(agent, {
      sender,
      actor: sender,
      body: `Wake up ${various(of.rows('SELECT 1 FROM messages').length)}`,
    });
    const begun = await next(of, agent);
    await meanwhile(begun);
    await of.write((tx) => completeTurn(tx, begun, { output: { text }, snapshot }));
  };

  test('pause their agent after so many in a row', async () => {
    const team = await withProtection('{ emptyTurns: 3 }');
    for (let n = 0; n < 2; n += 1) await turn(team, 'ada', ' ', 'cat');
    expect(paused(team)).toEqual({});
    await turn(team, 'ada', '', 'cat');
    expect(paused(team)).toEqual({ ada: 'protection.emptyTurns' });
  });

  test('are not those that say something, change the workspace, or were asked for by a person', async () => {
    const team = await withProtection('{ emptyTurns: 2 }');
    for (const [text, sender, snapshot] of [
      ['', 'cat', undefined],
      ['Something.', 'cat', undefined],
      ['', 'cat', undefined],
      ['', 'cat', 'a'.repeat(64)],
      ['', 'cat', 'a'.repeat(64)],
      ['', 'user', undefined],
      ['', 'cat', undefined],
    ] as const) {
      await turn(team, 'ada', text, sender, snapshot);
    }
    expect(paused(team)).toEqual({});
  });

  test('are those that changed nothing but the index of a repository', async () => {
    const team = await withProtection('{ emptyTurns: 2 }');
    const files = { added: 0, changed: 0, removed: 0 };
    const leave = async (snapshot: string, before: string | null, onlyIndex: boolean) => {
      await team.mail('ada', { sender: 'cat', actor: 'cat', body: `Wake up ${snapshot}` });
      const begun = await next(team, 'ada');
      const report = { output: { text: '' }, snapshot: snapshot.repeat(64) };
      const counted = { before: before && before.repeat(64), files, onlyIndex };
      await team.write((tx) => completeTurn(tx, begun, report, counted));
    };
    await leave('a', null, true);
    await leave('b', 'a', false);
    await leave('c', 'b', true);
    expect(paused(team)).toEqual({});
    await leave('d', 'c', true);
    expect(paused(team)).toEqual({ ada: 'protection.emptyTurns' });
  });

  const aiTeam = () => makeTeam(`${withModel(teamYaml)}protection: { emptyTurns: 3, exchanges: off, sameMail: off }\n`);

  test('are with a model those of which there is nothing but text', async () => {
    const team = await aiTeam();
    for (let n = 0; n < 3; n += 1) {
      expect(paused(team)).toEqual({});
      await turn(team, 'ada', `I have understood: ${various(n)}.`, 'cat', undefined, (begun) =>
        team.call(begun, 'ada', {}, () => {
          throw new SuzumioError('recipient-unknown', 'There is nobody of that name.');
        }),
      );
    }
    expect(paused(team)).toEqual({ ada: 'protection.emptyTurns' });
    expect(reasons(team)[0]).toMatch(/without a message, a file or a tool call/);
  });

  test('are with a model not those with a tool call or a new workspace, or that a person or a notice began', async () => {
    const team = await aiTeam();
    for (let n = 0; n < 2; n += 1) await turn(team, 'ada', 'A summary.', 'cat');
    await turn(team, 'ada', 'A summary.', 'cat', undefined, (begun) => team.call(begun, 'ada'));
    for (let n = 0; n < 2; n += 1) await turn(team, 'ada', 'A summary.', 'cat');
    await turn(team, 'ada', 'A summary.', 'cat', 'b'.repeat(64));
    for (const sender of ['user', 'system']) {
      for (let n = 0; n < 4; n += 1) await turn(team, 'ada', 'A summary.', sender);
    }
    expect(paused(team)).toEqual({});
  });
});

describe('protection', () => {
  test('is there where a project file says nothing', async () => {
    const team = await makeTeam();
    await exchange(team, defaultProtection.exchanges - 1);
    expect(paused(team)).toEqual({});
    await exchange(team, 1, defaultProtection.exchanges - 1);
    expect(Object.keys(paused(team))).toEqual(['ada', 'ben']);
  });

  test('is off with one word', async () => {
    const team = await withProtection('off');
    for (let n = 0; n < 2 * defaultProtection.exchanges; n += 1) {
      await send(team, 'ada', 'ben', 'ping');
      await send(team, 'ben', 'ada', 'pong');
    }
    expect(paused(team)).toEqual({});
    expect(team.rows('SELECT 1 FROM agent_watch')).toEqual([]);
  });

  test('leaves who is paused already with the reason that is known', async () => {
    const team = await withProtection('{ exchanges: 2 }');
    await team.write((tx) => tx.run(`UPDATE agents SET paused_json = '{"by":"ann"}' WHERE id = 'ada'`));
    await exchange(team, 2);
    expect(team.rows(`SELECT paused_json FROM agents WHERE id = 'ada'`)).toEqual([{ paused_json: '{"by":"ann"}' }]);
  });
});

async function publish(of: Team, creator: string): Promise<void> {
  const { turn } = await of.work(creator);
  await of.write((tx) =>
    publishArtifact(tx, { creator, turn, name: 'a.md', path: 'artifacts/a', sha256: 'a'.repeat(64), sizeBytes: 1 }),
  );
}
