import { describe, expect, test } from '@jest/globals';
import type { AgentConfig, ProjectConfig } from '@suzumio/contract/model/project-config';
import { changeBudget } from '@suzumio/store/budgets/change-budget';
import { listBudgets } from '@suzumio/store/budgets/read-budgets';
import { listInbox } from '@suzumio/store/mail/messages';
import { redeliverMessage } from '@suzumio/store/mail/redeliver-message';
import { readAgentEnv } from '@suzumio/store/projects/agents';
import { applyConfig } from '@suzumio/store/projects/apply-config';
import { contradictionsIn } from '@suzumio/store/projects/contradictions';
import { listVersions } from '@suzumio/store/projects/config-versions';
import { resetAgent } from '@suzumio/store/turns/agent-transitions';
import { prepareTurn } from '@suzumio/store/turns/prepare-turn';
import { retryTurn } from '@suzumio/store/turns/retry-turn';
import type { Tx } from '@suzumio/store/sqlite/tx';
import { refusedAs, type Team, teams } from '../team.js';

const team = teams();

const applyInto = (tx: Tx, base: number, config: ProjectConfig) =>
  applyConfig(tx, { base, config, source: '', actor: 'test', snapshots: new Map() });

const agent = (id: string, change: Partial<AgentConfig>) => (config: ProjectConfig) => {
  const before = config.agents[id];
  if (!before) throw new Error(`there is no ${id}`);
  return { ...config, agents: { ...config.agents, [id]: { ...before, ...change } } };
};
const withZoe = (config: ProjectConfig): ProjectConfig => ({
  ...config,
  agents: { ...config.agents, zoe: { base: 'zoe', role: 'newcomer', prompt: 'Help.', tools: ['*'] } },
  channels: config.channels.map(({ name, members }) => ({ name, members: [...members, 'zoe'] })),
});
const versionOf = (of: Team, turn: string) =>
  of.rows<{ v: number }>(`SELECT config_version AS v FROM turns WHERE id = '${turn}'`)[0]?.v;
const undelivered = (of: Team, id: string) =>
  listInbox(of.store.reader, { limit: 10, agent: id, undelivered: true }).items.length;

describe('a new version of the file', () => {
  test('is in force, is listed, and is told of', async () => {
    const of = await team();
    const applied = await of.change(agent('ada', { prompt: 'Write well.' }));
    expect(applied).toMatchObject({ version: 2, changes: [{ path: 'agents.ada.prompt', effect: 'next-turn' }] });
    expect(of.store.config.agents['ada']?.prompt).toBe('Write well.');
    expect(of.store.configAt(1).agents['ada']?.prompt).toBe('Write.');
    expect(of.rows(`SELECT prompt FROM agents WHERE id = 'ada'`)).toEqual([{ prompt: 'Write well.' }]);
    expect(listVersions(of.store.reader, { limit: 10 }).items).toMatchObject([
      { version: 1, by: 'test', changes: 0, changed: [], reverts: null },
      { version: 2, by: 'test', changes: 1, changed: ['agents.ada.prompt'], reverts: null },
    ]);
    const [event] = of.rows<{ actor: string; data: string }>(
      `SELECT actor, data_json AS data FROM events WHERE type = 'config.changed'`,
    );
    expect({ ...event, data: JSON.parse(event?.data ?? '') as unknown }).toEqual({
      actor: 'test',
      data: { version: 2, changes: 1, changed: ['agents.ada.prompt'], added: [], retired: [] },
    });
  });

  test('that says what the newest says is none', async () => {
    const of = await team();
    await of.change((config) => config, { source: '# the same' });
    expect(await of.change((config) => config, { source: '# the same' })).toEqual({ version: 2, changes: [] });
    expect(of.events().filter((type) => type === 'config.changed')).toHaveLength(1);
  });

  test('over a newer one is refused, and says what has changed since', async () => {
    const of = await team();
    await of.change(agent('ada', { model: 'small' }));
    await of.change(agent('ben', { role: 'critic' }), { actor: 'bob' });
    const late = of.change(agent('cat', { role: 'x' }), { base: 1 });
    await expect(late).rejects.toMatchObject({
      ...refusedAs('config-conflict'),
      details: {
        base: 1,
        version: 3,
        by: 'bob',
        changes: ['agents.ada.model: nothing -> "small"', 'agents.ben.role: "reader" -> "critic"'],
      },
    });
    await expect(of.change((config) => config, { base: 9 })).rejects.toMatchObject(refusedAs('config-version-unknown'));
    expect(of.store.config.agents['cat']?.role).toBe('watcher');
  });

  test('that asks for what cannot change is refused whole', async () => {
    const of = await team();
    const change = of.change((config) => ({ ...agent('ada', { prompt: 'New.' })(config), name: 'other' }));
    await expect(change).rejects.toMatchObject({
      ...refusedAs('config-change-refused'),
      message: expect.stringMatching(/^name: A project keeps its name: "suzumio init"/),
    });
    expect(of.store.config.agents['ada']?.prompt).toBe('Write.');
  });

  test('over one that was rolled back is not taken for that one', async () => {
    const of = await team();
    const failing = of.write((tx) => {
      tx.run(`UPDATE projects SET task = 'x'`);
      const base = 1;
      const config = agent('ada', { prompt: 'Lost.' })(tx.config);
      applyInto(tx, base, config);
      expect(tx.config.agents['ada']?.prompt).toBe('Lost.');
      throw new Error('rolled back');
    });
    await expect(failing).rejects.toThrow('rolled back');
    expect(of.store.config.agents['ada']?.prompt).toBe('Write.');
    await of.change(agent('ada', { prompt: 'Kept.' }));
    expect([of.store.config.agents['ada']?.prompt, of.store.configAt(2).agents['ada']?.prompt]).toEqual([
      'Kept.',
      'Kept.',
    ]);
  });
});

describe('turns and versions', () => {
  test('a turn runs with the version of its prompt; the next one has the newest', async () => {
    const of = await team();
    const first = await of.work('ada');
    await of.change(agent('ada', { prompt: 'Write well.' }));
    await of.fail(first, 'container-vanished');
    await of.begin(first.turn);
    expect([versionOf(of, first.turn), of.turn(first.turn)?.prompt]).toEqual([1, expect.stringContaining('Write.\n')]);
    await of.complete({ turn: first.turn, attempt: 2 });
    const second = await of.work('ada');
    expect([versionOf(of, second.turn), of.turn(second.turn)?.prompt]).toEqual([
      2,
      expect.stringContaining('Write well.\n'),
    ]);
  });

  test('a prompt that was rendered with an older version is rendered again', async () => {
    const of = await team();
    await of.mail('ada');
    const [turn = ''] = await of.schedule();
    const prepared = prepareTurn(of.store.reader, of.store.config, turn);
    await of.change(agent('ada', { prompt: 'Write well.' }));
    expect(await of.claim(turn, { prepared })).toBe('stale');
    await of.begin(turn);
    expect([versionOf(of, turn), of.turn(turn)?.prompt]).toEqual([2, expect.stringContaining('Write well.\n')]);
  });

  test('limits are those that the turn began with', async () => {
    const of = await team();
    const begun = await of.work('ada');
    await of.change((config) => ({ ...config, turn: { ...config.turn, maxToolCalls: 1, maxAttempts: 1 } }));
    expect((await of.call(begun, 'ada', { step: '0.0' })).result.ok).toBe(true);
    expect((await of.call(begun, 'ada', { step: '0.1', requestHash: 'h2' })).result.ok).toBe(true);
    expect(await of.fail(begun, 'container-vanished')).toEqual({ turn: 'queued' });
  });

  test('a tool that is taken away is refused at once, and one that is given only in the next turn', async () => {
    const of = await team();
    const ada = await of.work('ada');
    const cat = await of.work('cat');
    await of.change((config) =>
      agent('cat', { tools: ['messages.send'] })(agent('ada', { tools: ['artifacts.list'] })(config)),
    );
    expect((await of.call(ada, 'ada', { step: '0.0' })).result).toMatchObject({
      ok: false,
      code: 'tool-not-allowed',
      message: expect.stringContaining("the project's file was changed since this turn began"),
    });
    expect((await of.call(ada, 'ada', { step: '0.1', tool: 'artifacts.list' })).result.ok).toBe(true);
    expect((await of.call(cat, 'cat', { step: '0.0' })).result).toMatchObject({ code: 'tool-not-allowed' });
    await of.complete(cat);
    expect((await of.call(await of.work('cat'), 'cat', { step: '0.0' })).result.ok).toBe(true);
  });

  test('a step that was recorded before is answered as it was', async () => {
    const of = await team();
    const begun = await of.work('ada');
    await of.call(begun, 'ada', { step: '0.0' });
    await of.change(agent('ada', { tools: [] }));
    expect(await of.call(begun, 'ada', { step: '0.0' })).toMatchObject({ replayed: true, result: { ok: true } });
  });

  test('budgets count at once, below what an operator has set', async () => {
    const of = await team();
    await of.complete(await of.work('ada'));
    await of.change((config) => ({ ...config, budget: { turns: 1 } }));
    await of.mail('ada');
    expect(await of.schedule()).toEqual([]);
    await of.write((tx) => {
      changeBudget(tx, undefined, { turns: 5 }, 'test');
    });
    await of.change((config) => ({ ...config, budget: { turns: 2 } }));
    expect(listBudgets(of.store.reader, of.store.config)[0]?.turns).toEqual({ limit: 5, used: 1 });
    expect(await of.schedule()).toHaveLength(1);
  });

  test('values of variables are those of the version', async () => {
    const of = await team();
    await of.change(agent('ada', { env: { KEY: 'one' } }));
    await of.change(agent('ada', { prompt: 'Write well.' }));
    await of.change(agent('ada', { env: { KEY: 'two' } }));
    expect([1, 2, 3, 4].map((version) => readAgentEnv(of.store.reader, 'ada', version))).toEqual([
      {},
      { KEY: 'one' },
      { KEY: 'one' },
      { KEY: 'two' },
    ]);
    expect(JSON.stringify(of.rows('SELECT config_json FROM config_versions'))).not.toMatch(/"(one|two)/);
  });

  test('versions count towards what the project may store', async () => {
    const of = await team();
    const bytes = () =>
      of.rows<{ bytes: number }>(`SELECT bytes FROM stored_bytes WHERE owner = 'user' AND kind = 'rows'`)[0]?.bytes ??
      0;
    const before = bytes();
    await of.change(agent('ada', { prompt: 'x'.repeat(10_000) }));
    expect(bytes() - before).toBeGreaterThan(10_000);
  });
});

describe('channels', () => {
  test('are closed and opened again with their mail, and reach their members of now', async () => {
    const of = await team();
    const post = (channel: string) =>
      of.mail('', { channel, recipient: undefined }).then(
        ({ recipients }) => recipients,
        (error: unknown) => (error as { code: string }).code,
      );
    expect(await post('#pair')).toEqual(['ada', 'ben']);
    await of.change((config) => ({ ...config, channels: [{ name: '#team', members: ['cat'] }] }));
    expect([await post('#pair'), await post('#team')]).toEqual(['channel-unknown', ['cat']]);
    await of.change((config) => ({ ...config, channels: [{ name: '#pair', members: ['ben'] }] }));
    expect([await post('#pair'), await post('#team')]).toEqual([['ben'], 'channel-unknown']);
    expect(contradictionsIn(of.store.reader)).toEqual({});
  });
});

describe('agents that come and go', () => {
  test('a new one is quiet, and wakes on mail', async () => {
    const of = await team();
    await of.change(withZoe);
    expect(of.stateOf('zoe')).toBe('quiet');
    const begun = await of.work('zoe');
    expect(of.turn(begun.turn)?.prompt).toContain('# You are zoe, newcomer\nHelp.');
    await of.complete(begun);
    expect(contradictionsIn(of.store.reader)).toEqual({});
  });

  test('one that is retired ends its turn, its mail is undelivered, and mail to it is refused', async () => {
    const of = await team();
    const begun = await of.work('ben');
    await of.mail('ben');
    await of.mail('ben');
    await of.retire('ben');
    expect([of.stateOf('ben'), of.turn(begun.turn)?.status, undelivered(of, 'ben')]).toEqual([
      'retired',
      'cancelled',
      3,
    ]);
    await expect(of.complete(begun)).rejects.toMatchObject(refusedAs('attempt-over'));
    for (const recipient of ['ben', 'Benny']) {
      await expect(of.mail(recipient)).rejects.toMatchObject(refusedAs('recipient-retired'));
    }
    await expect(of.write((tx) => retryTurn(tx, 'ben', 'test'))).rejects.toMatchObject(
      refusedAs('agent-state-refused'),
    );
    await expect(of.write((tx) => redeliverMessage(tx, '1', { actor: 'test' }))).rejects.toMatchObject(
      refusedAs('redelivery-refused'),
    );
    const ada = await of.work('ada');
    expect(of.turn(ada.turn)?.prompt).not.toContain('Benny');
    expect(contradictionsIn(of.store.reader)).toEqual({});
  });

  test.each(['quiet', 'queued', 'failed'])('a %s one is retired', async (how) => {
    const of = await team();
    await of.mail('ben');
    if (how !== 'quiet') await of.schedule();
    if (how === 'failed') await of.fail(await of.begin(of.activeTurn('ben') ?? ''), 'non-zero-exit');
    await of.retire('ben');
    expect([of.stateOf('ben'), undelivered(of, 'ben'), of.unread('ben')]).toEqual(['retired', 1, 0]);
    expect(contradictionsIn(of.store.reader)).toEqual({});
  });

  test('one that is in the file again is brought back, with its turns and its mail', async () => {
    const of = await team();
    await of.complete(await of.work('ben'));
    await of.mail('ben');
    const whole = of.store.config;
    await of.retire('ben');
    await of.change(() => whole);
    expect(of.stateOf('ben')).toBe('quiet');
    expect(await of.write((tx) => resetAgent(tx, 'ben', 'test', { redeliver: true }))).toHaveLength(1);
    const begun = await of.work('ben');
    await of.complete(begun);
    expect(of.rows<{ n: number }>(`SELECT turns AS n FROM agents WHERE id = 'ben'`)).toEqual([{ n: 3 }]);
    expect(contradictionsIn(of.store.reader)).toEqual({});
  });

  test('the id of one that was retired is no other agent’s', async () => {
    const of = await team();
    const whole = of.store.config;
    await of.retire('ben');
    const other = of.change(() => agent('ben', { backend: 'external' })(whole));
    await expect(other).rejects.toMatchObject({
      ...refusedAs('config-change-refused'),
      message: expect.stringContaining('The id ben is that of an agent that was retired, which had another backend'),
    });
  });
});
