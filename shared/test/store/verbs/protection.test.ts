import { describe, expect, test } from '@jest/globals';
import { defaultProtection } from '@suzumio/shared/mailbox/protection';
import type { Pause } from '@suzumio/shared/model/pause';
import { assignTask } from '@suzumio/shared/store/verbs/assign-task';
import { resumeAgent } from '@suzumio/shared/store/verbs/pause';
import { publishArtifact } from '@suzumio/shared/store/verbs/publish-artifact';
import { completeTurn } from '@suzumio/shared/store/verbs/report-attempt';
import { teamYaml } from '../../support/cell.js';
import { type Team, teams } from '../team.js';

const makeTeam = teams();
const withProtection = (protection: string) => makeTeam(`${teamYaml}protection: ${protection}\n`);

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
        'ben and ada have answered each other 5 times within an hour, and neither heard from anybody else or published, assigned or submitted anything (protection.exchanges).',
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

  test('begin anew when one of them hears from a person, from a third, or publishes or assigns something', async () => {
    const team = await withProtection('{ exchanges: 3 }');
    const effects = [
      () => team.mail('ada'),
      () => send(team, 'cat', 'ben', 'Something else.'),
      () =>
        team.write((tx) =>
          assignTask(tx, { sender: 'ben', actor: 'ben', priority: 'P1', body: 'Do.', role: 'watcher' }),
        ),
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

describe('an agent that says the same again and again', () => {
  test('is paused, whatever numbers stand in it', async () => {
    const team = await withProtection('{ sameMail: 4 }');
    for (let n = 1; n <= 3; n += 1) await send(team, 'ada', 'user', `Still waiting, ${n} minutes now.`);
    expect(paused(team)).toEqual({});
    await send(team, 'ada', 'user', 'Still waiting,  4 minutes NOW!');
    expect(paused(team)).toEqual({ ada: 'protection.sameMail' });
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
  const turn = async (of: Team, agent: string, text: string, sender: string, snapshot?: string) => {
    await of.mail(agent, {
      sender,
      actor: sender,
      body: `Wake up ${various(of.rows('SELECT 1 FROM messages').length)}`,
    });
    await of.schedule();
    const begun = await of.begin(of.activeTurn(agent) ?? '');
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
