import { describe, expect, test } from '@jest/globals';
import { handlerPresence, handlerPresentMs, turnsForHandler } from '@suzumio/store/turns/handlers';
import { prepareTurn } from '@suzumio/store/turns/prepare-turn';
import { deliverableTurns } from '@suzumio/store/turns/deliver-turn';
import { agentsToNote, noteHandler } from '@suzumio/store/turns/note-handler';
import { handBack } from '@suzumio/store/turns/hand-back';
import { expireLease, extendLease } from '@suzumio/store/turns/leases';
import { refusedAs, type Team, teams } from '../team.js';

const yaml = `
name: team
task: Do the work.
channels: ["#team"]
scheduler: { maxConcurrentTurns: 1 }
turn: { timeout: 1m, startDeadline: 1m }
backend: { runner: { mode: ai, models: MODELS } }
agents:
  ada: { role: writer, prompt: Write., tools: ["*"], backend: external }
  ben: { role: reader, prompt: Read., tools: ["*"], backend: external }
  cat: { role: watcher, prompt: Watch., tools: [], model: main }
`.replace(
  'MODELS',
  '{ providers: { p: { type: openai-compatible, baseURL: "http://127.0.0.1:1" } }, presets: { main: { provider: p, model: m } } }',
);
const make = teams();
const engine = 'external';
const startDeadlineMs = 60_000;
const turnTimeoutMs = 60_000;

describe('a turn of an external agent', () => {
  const queue = async (...agents: string[]): Promise<Team> => {
    const of = await make(yaml);
    for (const agent of agents) await of.mail(agent);
    await of.schedule();
    return of;
  };
  const offered = (of: Team, ...agents: string[]) =>
    turnsForHandler(of.store.reader, { agents, nowMs: of.nowMs }).map((turn) => agentOf(of, turn));
  const agentOf = (of: Team, turn: string) =>
    of.rows<{ agent_id: string }>(`SELECT agent_id FROM turns WHERE id = '${turn}'`)[0]?.agent_id;

  test('is started by mail like any other and never gets a job', async () => {
    const of = await queue('ada');
    expect(of.stateOf('ada')).toBe('running');
    expect(deliverableTurns(of.store.reader, of.nowMs)).toEqual([]);
    expect(offered(of, 'ada')).toEqual(['ada']);
  });

  test('keeps no other agent from a turn, whatever the project’s bound is, and is kept from none', async () => {
    const of = await queue('ada', 'ben', 'cat');
    expect(['ada', 'ben', 'cat'].map((agent) => of.stateOf(agent))).toEqual(['running', 'running', 'running']);
  });

  test('waits for its handler for as long as that takes', async () => {
    const of = await queue('ada');
    of.advance(100 * startDeadlineMs);
    expect(offered(of, 'ada')).toEqual(['ada']);
    await of.begin(of.activeTurn('ada') ?? '', { engine });
  });

  test('is for handlers, and others are not', async () => {
    const of = await queue('ada', 'cat');
    const [ada = '', cat = ''] = [of.activeTurn('ada'), of.activeTurn('cat')].map((turn) => turn ?? '');
    await expect(of.begin(ada)).rejects.toMatchObject(refusedAs('claim-refused'));
    await expect(of.begin(cat, { engine })).rejects.toMatchObject(refusedAs('claim-refused'));
    expect(offered(of, 'ada', 'cat')).toEqual(['ada']);
  });

  test('is one a claim, though the claim be made at two places', async () => {
    const of = await queue('ada', 'ben');
    const claimId = 'f'.repeat(32);
    await of.begin(of.activeTurn('ada') ?? '', { engine, claimId });
    const second = of.begin(of.activeTurn('ben') ?? '', { engine, claimId });
    await expect(second).rejects.toMatchObject(refusedAs('claim-refused'));
  });

  test('takes as many messages as its handler says, and no more than the project allows', async () => {
    const of = await queue('ada', 'ada', 'ada');
    const turn = of.activeTurn('ada') ?? '';
    const taken = (batch?: number) => prepareTurn(of.store.reader, of.store.config, turn, { batch }).mail.length;
    expect([taken(1), taken(2), taken(1000), taken()]).toEqual([1, 2, 3, 3]);
  });

  test('may call tools that no model asked for', async () => {
    const of = await queue('ada');
    const begun = await of.begin(of.activeTurn('ada') ?? '', { engine });
    const call = await of.call(begun, 'ada', { step: 'sdk.1' });
    expect(call).toMatchObject({ result: { ok: true }, replayed: false });
  });

  test('that takes too long ends at its next heartbeat, as time-limit', async () => {
    const of = await queue('ada');
    const begun = await of.begin(of.activeTurn('ada') ?? '', { engine });
    of.advance(turnTimeoutMs - 1);
    expect(await of.write((tx) => extendLease(tx, begun, 15_000))).toMatchObject({ cancel: false });
    of.advance(1);
    expect(await of.write((tx) => extendLease(tx, begun, 15_000))).toEqual({ leaseMs: 0, cancel: true });
    expect(JSON.parse(of.turn(begun.turn)?.failure_json ?? '{}')).toMatchObject({ code: 'time-limit' });
    expect(of.stateOf('ada')).toBe('failed');
  });

  test('has no longer than its time from when the clock stepped back', async () => {
    const of = await queue('ada');
    const begun = await of.begin(of.activeTurn('ada') ?? '', { engine });
    const beat = () => of.write((tx) => extendLease(tx, begun, 15_000));
    of.advance(-3_600_000);
    expect(await beat()).toMatchObject({ cancel: false });
    of.advance(turnTimeoutMs - 1);
    expect(await beat()).toMatchObject({ cancel: false });
    of.advance(1);
    expect(await beat()).toEqual({ leaseMs: 0, cancel: true });
    expect(JSON.parse(of.turn(begun.turn)?.failure_json ?? '{}')).toMatchObject({ code: 'time-limit' });
  });

  test('whose handler was lost is offered again, and says that it was a handler', async () => {
    const of = await queue('ada');
    const begun = await of.begin(of.activeTurn('ada') ?? '', { engine, worker: 'desk' });
    of.advance(20_000);
    expect(await of.write((tx) => expireLease(tx, begun))).toBe('queued');
    expect(offered(of, 'ada')).toEqual(['ada']);
    expect(of.rows(`SELECT failure_json ->> 'message' AS message FROM turn_attempts`)).toEqual([
      { message: 'Handler desk was not heard of for a whole lease.' },
    ]);
  });

  test('that its handler leaves goes back, however late, though it has called nothing', async () => {
    const of = await queue('ada');
    const begun = await of.begin(of.activeTurn('ada') ?? '', { engine });
    of.advance(2 * startDeadlineMs);
    expect(await of.fail(begun, 'worker-shutdown')).toEqual({ turn: 'queued' });
  });

  test('whose handlers are gone is offered at once, then with pauses, and never fails of it', async () => {
    const of = await queue('ada');
    const gone = async () => {
      const claimed = await of.claim(of.activeTurn('ada') ?? '', { engine });
      if (typeof claimed === 'string') throw new Error(`the claim was ${claimed}`);
      const { attempt, leaseUntilMs } = claimed;
      await of.write((tx) => handBack(tx, { turn: of.activeTurn('ada') ?? '', attempt }, leaseUntilMs));
      const pauseMs = (of.turn(of.activeTurn('ada') ?? '')?.not_before_ms ?? 0) - of.nowMs;
      of.advance(24 * 3_600_000);
      return pauseMs;
    };
    const leave = async () => {
      await of.fail(await of.begin(of.activeTurn('ada') ?? '', { engine }), 'worker-shutdown');
      of.advance(10_000);
    };
    await leave();
    expect([await gone(), await gone(), await gone()]).toEqual([0, 2_000, 4_000]);
    await leave();
    expect(await gone()).toBe(0);
    expect(of.rows('SELECT DISTINCT counted FROM turn_attempts')).toEqual([{ counted: 0 }]);
  });

  test('that was handed back is granted anew to the same claim, and once', async () => {
    const of = await queue('ada', 'ben');
    const [ada = '', ben = ''] = [of.activeTurn('ada'), of.activeTurn('ben')].map((turn) => turn ?? '');
    const claim = { engine, claimId: 'f'.repeat(32) };
    const first = await of.claim(ada, claim);
    if (typeof first === 'string') throw new Error(`the claim was ${first}`);
    await of.write((tx) => handBack(tx, { turn: ada, attempt: 1 }, first.leaseUntilMs));
    expect(await of.claim(ada, claim)).toMatchObject({ attempt: 2, repeated: false });
    expect(await of.claim(ada, claim)).toMatchObject({ attempt: 2, repeated: true });
    await expect(of.claim(ben, claim)).rejects.toMatchObject(refusedAs('claim-refused'));
  });

  test('is not handed back once its claim was answered again', async () => {
    const of = await queue('ada');
    const turn = of.activeTurn('ada') ?? '';
    const claim = { engine, claimId: 'f'.repeat(32) };
    const [first, second] = [await of.claim(turn, claim), await of.claim(turn, claim)];
    if (typeof first === 'string' || typeof second === 'string') throw new Error('there was nothing to claim');
    await of.write((tx) => handBack(tx, { turn, attempt: 1 }, first.leaseUntilMs));
    expect(of.turn(turn)).toMatchObject({ status: 'running' });
    await of.write((tx) => handBack(tx, { turn, attempt: 1 }, second.leaseUntilMs));
    expect(of.turn(turn)).toMatchObject({ status: 'queued' });
  });

  test('is offered at once when the clock stepped back since its back-off was set', async () => {
    const of = await queue('ada');
    const begun = await of.begin(of.activeTurn('ada') ?? '', { engine });
    await of.fail(begun, 'worker-shutdown');
    await of.write((tx) => tx.run(`UPDATE turns SET not_before_ms = ${of.nowMs + 60_000}`));
    expect(offered(of, 'ada')).toEqual([]);
    of.advance(-3_600_000);
    expect(offered(of, 'ada')).toEqual(['ada']);
    expect((await of.begin(of.activeTurn('ada') ?? '', { engine, claimId: 'b'.repeat(32) })).attempt).toBe(2);
  });

  test('is not offered while its agent is paused, nor before it is due', async () => {
    const of = await queue('ada', 'ben');
    await of.write((tx) => tx.run(`UPDATE agents SET paused_json = '{}' WHERE id = 'ada'`));
    await of.write((tx) => tx.run(`UPDATE turns SET not_before_ms = ${of.nowMs + 1} WHERE agent_id = 'ben'`));
    expect(offered(of, 'ada', 'ben')).toEqual([]);
    of.advance(1);
    expect(offered(of, 'ada', 'ben')).toEqual(['ben']);
  });
});

describe('the handler of an agent', () => {
  const note = (of: Team, handler: string, ...agents: string[]) =>
    of.write((tx) => noteHandler(tx, handler, agentsToNote(tx, { handler, agents, nowMs: tx.nowMs })));
  const presence = (of: Team, agent: string) => handlerPresence(of.store.reader, agent, of.nowMs);

  test('is known from when it asks until it has not for a while', async () => {
    const of = await make(yaml);
    expect(presence(of, 'ada')).toBeUndefined();
    await note(of, 'desk', 'ada');
    expect(presence(of, 'ada')).toEqual({ handler: 'desk', seenAtMs: of.nowMs, connected: true });
    expect(presence(of, 'ben')).toBeUndefined();
    of.advance(handlerPresentMs);
    expect(presence(of, 'ada')).toMatchObject({ connected: false });
  });

  test('is there for as long as it runs a turn, also one of another agent', async () => {
    const of = await make(yaml);
    await note(of, 'desk', 'ada', 'ben');
    await of.mail('ada');
    await of.schedule();
    await of.begin(of.activeTurn('ada') ?? '', { engine, worker: 'desk' });
    of.advance(handlerPresentMs);
    expect(presence(of, 'ben')).toMatchObject({ connected: true });
  });

  test('is written down every ten seconds, and when another one asks', async () => {
    const of = await make(yaml);
    const toNote = (handler: string) =>
      agentsToNote(of.store.reader, { handler, agents: ['ada', 'ben'], nowMs: of.nowMs });
    await note(of, 'desk', 'ada');
    expect(toNote('desk')).toEqual(['ben']);
    expect(toNote('other')).toEqual(['ada', 'ben']);
    of.advance(10_000);
    expect(toNote('desk')).toEqual(['ada', 'ben']);
  });
});
