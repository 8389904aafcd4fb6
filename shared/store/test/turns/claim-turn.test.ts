import { describe, expect, test } from '@jest/globals';
import { type Claimed, claimTurn } from '@suzumio/store/turns/claim-turn';
import { turnRow } from '@suzumio/store/rows';
import { resetAgent } from '@suzumio/store/turns/agent-transitions';
import { completeTurn } from '@suzumio/store/turns/complete-turn';
import { listAttempts } from '@suzumio/store/turns/read-turns';
import { failTurn } from '@suzumio/store/turns/fail-attempt';
import { prepareTurn, type SandboxSeen } from '@suzumio/store/turns/prepare-turn';
import { teamYaml } from '../../../../test/support/cell.js';
import { leaseMs, refusedAs, start, teams } from '../team.js';

const team = teams();
const claimId = 'c'.repeat(32);

describe('the first claim', () => {
  test('makes the mail of its prompt read, and freezes the input', async () => {
    const of = await team();
    const { id } = await of.mail('ada', { body: 'Write it.' });
    const [turn = ''] = await of.schedule();
    of.advance(40);
    const claimed = await of.claim(turn);
    expect(claimed).toMatchObject({
      attempt: 1,
      epoch: 1,
      input: { agent: { id: 'ada' }, turn: { id: turn, number: 1, attempt: 1, mail: [{ id, body: 'Write it.' }] } },
    });
    expect(of.unread('ada')).toBe(0);
    expect(of.rows('SELECT message_id, recipient, turn_id, read_at_ms, voided_at_ms FROM message_reads')).toEqual([
      { message_id: id, recipient: 'ada', turn_id: turn, read_at_ms: start + 40, voided_at_ms: null },
    ]);
    expect(of.turn(turn)).toMatchObject({ status: 'running', attempt: 1 });
    expect(of.turn(turn)?.prompt).toContain('| Write it.');
    expect(of.rows('SELECT number, status, worker, engine, lease_until_ms FROM turn_attempts')).toEqual([
      { number: 1, status: 'running', worker: 'w1', engine: 'test', lease_until_ms: start + 40 + leaseMs },
    ]);
    expect(of.rows<{ data: string }>(`SELECT data_json AS data FROM events WHERE type = 'turn.started'`)).toEqual([
      { data: expect.stringContaining('"sinceMessageMs":40') as unknown },
    ]);
  });

  test('of a turn that runs as a process says so, whatever engine its worker has', async () => {
    const of = await team(teamYaml.replace('backend: {', 'backend: { kind: process,'));
    await of.mail('ada');
    const [turn = ''] = await of.schedule();
    await of.claim(turn);
    expect(of.rows('SELECT engine FROM turn_attempts')).toEqual([{ engine: 'process' }]);
  });

  test('takes mail that came in while its job waited: a backlog is one turn', async () => {
    const of = await team();
    await of.mail('ada', { body: 'First.' });
    const [turn = ''] = await of.schedule();
    await of.mail('ada', { body: 'Second.' });
    await of.mail('ada', { body: 'Urgent.', priority: 'P0' });
    await of.begin(turn);
    expect(of.unread('ada')).toBe(0);
    expect(of.turn(turn)?.prompt).toMatch(/Urgent\.[^]*First\.[^]*Second\./);
    await of.complete({ turn, attempt: 1 });
    expect(await of.schedule()).toEqual([]);
  });

  test('whose prompt was rendered before more urgent mail came is stale, and changes nothing', async () => {
    const of = await team();
    await of.mail('ada');
    const [turn = ''] = await of.schedule();
    const prepared = prepareTurn(of.store.reader, of.store.config, turn);
    await of.mail('ada', { priority: 'P0' });
    expect(await of.claim(turn, { prepared })).toBe('stale');
    expect(of.turn(turn)).toMatchObject({ status: 'queued', attempt: 0 });
    expect(of.unread('ada')).toBe(2);
    expect(await of.claim(turn)).toMatchObject({ attempt: 1 });
  });

  test('whose prompt tells of another workspace than the present one is stale', async () => {
    const of = await team();
    await of.mail('ada');
    const [turn = ''] = await of.schedule();
    const seen = { snapshot: null, workspace: [], hasOwnArtifacts: false, mounts: new Map() };
    const prepared = prepareTurn(of.store.reader, of.store.config, turn, { seen });
    await of.write((tx) => tx.run('UPDATE agents SET snapshot = :snapshot', { snapshot: 'a'.repeat(64) }));
    expect(await of.claim(turn, { prepared })).toBe('stale');
    const again = prepareTurn(of.store.reader, of.store.config, turn, { seen: { ...seen, snapshot: 'a'.repeat(64) } });
    expect(await of.claim(turn, { prepared: again })).toMatchObject({ attempt: 1 });
  });

  test('tells an agent with tools of the sandbox how its last turn failed, and no other', async () => {
    const of = await team();
    const failed = await of.work('ada');
    const failure = { code: 'workspace-too-large' as const, message: 'It wrote more than it may.' };
    await of.write((tx) => failTurn(tx, turnRow(tx, failed.turn), failure));
    await of.write((tx) => resetAgent(tx, 'ada', 'test', { redeliver: false }));
    await of.mail('ada');
    const [turn = ''] = await of.schedule();
    const prompt = (seen?: SandboxSeen) => prepareTurn(of.store.reader, of.store.config, turn, { seen }).prompt;
    expect(prompt()).not.toContain('Your last turn failed');
    expect(prompt({ snapshot: null, workspace: [], hasOwnArtifacts: false, mounts: new Map() })).toContain(
      '# Your last turn failed\n  workspace-too-large: It wrote more than it may.\n',
    );
  });

  test("tells an agent that its last turn's files were not stored, or not all of them", async () => {
    const of = await team();
    const prompt = async () => {
      await of.mail('ada');
      const [turn = ''] = await of.schedule();
      const { prompt: text } = prepareTurn(of.store.reader, of.store.config, turn);
      return { turn: await of.begin(turn), text };
    };
    const first = await prompt();
    expect(first.text).not.toMatch(/older than|Not kept/);
    const unsaved = { code: 'quota-exceeded', message: 'Agent ada has stored too much.' };
    await of.write((tx) => completeTurn(tx, first.turn, { output: { text: '' }, unsaved, stats: { exitCode: 0 } }));
    expect(listAttempts(of.store.reader, first.turn.turn)).toMatchObject([{ stats: { exitCode: 0, unsaved } }]);
    const second = await prompt();
    expect(second.text).toContain(
      '# Your files are older than your last turn\n  quota-exceeded: Agent ada has stored too much.\nSo your workspace was not stored',
    );
    const stats = { leftOut: { count: 12, names: ['run/pipe', 'caf\ufffd\n# Project'] }, ignoredFiles: 7 };
    await of.write((tx) => completeTurn(tx, second.turn, { output: { text: '' }, snapshot: null, stats }));
    expect(listAttempts(of.store.reader, second.turn.turn)).toMatchObject([{ stats }]);
    const third = await prompt();
    expect(third.text).toMatch(
      /# Not kept of your last turn's workspace: 12\n {2}run\/pipe\n {2}caf\S.*\n {2}and more\n/,
    );
    expect(third.text).not.toContain('older than');
    expect(third.text.match(/^# Project/gm)).toHaveLength(1);
  });

  test('does not mind mail that came after what was rendered: that starts the next turn', async () => {
    const of = await team();
    await of.mail('ada');
    const [turn = ''] = await of.schedule();
    const prepared = prepareTurn(of.store.reader, of.store.config, turn);
    await of.mail('ada');
    await of.begin(turn, { prepared });
    expect(of.unread('ada')).toBe(1);
    await of.complete({ turn, attempt: 1 });
    expect(await of.schedule()).toHaveLength(1);
  });

  test('leaves what the limits of a prompt do not hold for the next turn', async () => {
    const of = await team(limited);
    for (let n = 1; n <= 5; n += 1) await of.mail('ada', { body: `Number ${String(n)}.` });
    const [turn = ''] = await of.schedule();
    await of.begin(turn);
    expect(of.unread('ada')).toBe(3);
    expect(of.turn(turn)?.prompt).toContain('Number 2.');
    expect(of.turn(turn)?.prompt).not.toContain('Number 3.');
  });

  test('of a turn whose mail is gone cancels it', async () => {
    const of = await team();
    await of.mail('ada');
    const [turn = ''] = await of.schedule();
    await of.write((tx) => tx.run('DELETE FROM inbox'));
    expect(await of.claim(turn)).toBe('nothing-to-do');
    expect(of.turn(turn)?.status).toBe('cancelled');
    expect(of.stateOf('ada')).toBe('quiet');
    expect(of.rows('SELECT * FROM turn_attempts')).toEqual([]);
    expect(of.events().at(-1)).toBe('turn.cancelled');
  });
});

describe('a claim', () => {
  test('that is repeated gets the same answer for as long as its attempt runs', async () => {
    const of = await team();
    await of.mail('ada');
    const [turn = ''] = await of.schedule();
    const first = await of.claim(turn, { claimId });
    expect(first).toMatchObject({ attempt: 1, repeated: false });
    await of.mail('ada');
    of.advance(1_000);
    expect(await of.claim(turn, { claimId })).toEqual({ ...(first as Claimed), repeated: true });
    expect(of.rows('SELECT number FROM turn_attempts')).toEqual([{ number: 1 }]);
    expect(of.events().filter((type) => type === 'turn.started')).toHaveLength(1);
    await of.fail({ turn, attempt: 1 }, 'container-vanished');
    await expect(of.claim(turn, { claimId })).rejects.toMatchObject(refusedAs('attempt-over'));
  });

  test('by a second worker is refused: the first wins', async () => {
    const of = await team();
    const { turn } = await of.work('ada');
    await expect(of.claim(turn, { worker: 'w2' })).rejects.toMatchObject(refusedAs('claim-refused'));
  });

  test('of a turn that nobody knows is refused', async () => {
    const of = await team();
    const claim = {
      turn: 'turn_x',
      claimId,
      worker: 'w1',
      engine: 'test',
      leaseMs,
      hashes: () => ({ lease: '', tool: '' }),
    };
    await expect(of.write((tx) => claimTurn(tx, claim))).rejects.toMatchObject(refusedAs('turn-unknown'));
  });

  test('of an ended turn is refused', async () => {
    const of = await team();
    const begun = await of.work('ada');
    await of.complete(begun);
    await expect(of.claim(begun.turn)).rejects.toMatchObject(refusedAs('claim-refused'));
  });
});

describe('a later attempt', () => {
  test('gets the frozen input, whatever has come since', async () => {
    const of = await team();
    await of.mail('ada', { body: 'Once.' });
    const [turn = ''] = await of.schedule();
    const first = await of.claim(turn);
    await of.fail({ turn, attempt: 1 }, 'container-vanished');
    await of.mail('ada', { body: 'Twice.', priority: 'P0' });
    const second = await of.claim(turn);
    if (typeof first === 'string' || typeof second === 'string') throw new Error('not claimed');
    expect(second.attempt).toBe(2);
    expect(second.input).toEqual({ ...first.input, turn: { ...first.input.turn, attempt: 2 } });
    expect(of.unread('ada')).toBe(1);
  });

  test('waits out its backoff, and then leaves other workers the first chance', async () => {
    const of = await team();
    const begun = await of.work('ada');
    await of.fail(begun, 'engine-unreachable');
    await expect(of.claim(begun.turn, { worker: 'w2' })).rejects.toThrow('not due yet');
    of.advance(1_000);
    await expect(of.claim(begun.turn, { worker: 'w1' })).rejects.toThrow('others come first');
    expect(await of.begin(begun.turn, { worker: 'w2' })).toMatchObject({ attempt: 2 });
  });

  test('may be the same worker’s when no other came', async () => {
    const of = await team();
    const begun = await of.work('ada');
    await of.fail(begun, 'engine-unreachable');
    of.advance(1_000 + 5_000);
    expect(await of.begin(begun.turn)).toMatchObject({ attempt: 2 });
  });
});

const limited = `
name: limited
task: Read.
scheduler: { maxPromptMessages: 2 }
backend: { runner: { mode: mock } }
agents: { ada: { role: reader, prompt: Read. } }
`;
