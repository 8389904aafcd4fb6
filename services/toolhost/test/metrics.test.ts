import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { expireLease } from '@suzumio/store/turns/leases';
import { stopProject } from '@suzumio/store/projects/project-transitions';
import { counted } from '../../../test/support/counted.js';
import { claimId, type ToolhostBench, toolhostBench } from './toolhost-client.js';

let bench: ToolhostBench;
let project: string;

beforeEach(async () => {
  bench = await toolhostBench();
  project = await bench.testing.create();
});
afterEach(() => bench.close());

const count = (name: string, labels: Record<string, string> = {}) =>
  counted(bench.metrics, `suzumio_${name}_total`, labels);

describe('what the ToolHost counts', () => {
  test('a turn that completes is one, however often that is reported', async () => {
    const attempt = await bench.begin(project, 'ada');
    for (let time = 0; time < 3; time += 1) {
      expect((await attempt.report('complete', { output: { text: 'Done.' } })).status).toBe(200);
    }
    expect(await count('turns_ended')).toBe(1);
    expect(await count('turns_ended', { outcome: 'completed', code: 'none' })).toBe(1);
    const waits = { stage: 'scheduled', le: '+Inf' };
    expect(await counted(bench.metrics, 'suzumio_turn_stage_duration_seconds', waits)).toBe(1);
  });

  test('a turn that fails is counted with its code; one that is to be tried again is only requeued', async () => {
    const [ada, ben] = [await bench.begin(project, 'ada'), await bench.begin(project, 'ben')];
    await ada.report('fail', { failure: { code: 'time-limit', message: 'Too long.' } });
    await ben.report('fail', { failure: { code: 'container-vanished', message: 'Gone.' } });
    expect(await count('turns_ended')).toBe(1);
    expect(await count('turns_ended', { outcome: 'failed', code: 'time-limit' })).toBe(1);
    expect(await count('turns_requeued', { code: 'container-vanished' })).toBe(1);
  });

  test('turns that a person ends are cancelled', async () => {
    await bench.begin(project, 'ada');
    await bench.testing.write(project, (tx) => stopProject(tx, 'test', { now: true }));
    expect(await count('turns_ended', { outcome: 'cancelled', code: 'none' })).toBe(1);
  });

  test('claims are counted by what was made of them', async () => {
    const turn = await bench.queueTurn(project, 'ada');
    const id = claimId();
    await bench.claim(project, turn, { claimId: id });
    await bench.claim(project, turn, { claimId: id });
    await bench.claim(project, turn);
    expect(await count('claims', { outcome: 'granted' })).toBe(1);
    expect(await count('claims', { outcome: 'repeated' })).toBe(1);
    expect(await count('claims', { outcome: 'refused' })).toBe(1);
  });

  test('the notices of the system are mail of its own', async () => {
    const noticed = await bench.testing.create(`
name: noticed
task: Work.
backend: { runner: { mode: mock } }
agents:
  ada: { role: writer, prompt: Write. }
  ben: { role: lead, prompt: Read., notices: [finished] }
`);
    const attempt = await bench.begin(noticed, 'ada');
    await attempt.report('complete', { output: { text: '' } });
    expect(await count('mail_accepted', { sender: 'system' })).toBe(1);
    expect(await count('mail_accepted', { sender: 'user' })).toBe(1);
  });

  test('mail of agents is counted when it was accepted, tool calls by their outcome', async () => {
    const attempt = await bench.begin(project, 'ada');
    const step = { step: '1.0' };
    const message = { recipient: 'ben', body: 'Done.' };
    expect((await attempt.tool('messages.send', message, step)).status).toBe(200);
    expect((await attempt.tool('messages.send', message, step)).status).toBe(200);
    expect((await attempt.tool('messages.send', { ...message, recipient: 'nobody' })).status).toBe(422);
    await attempt.tool('messages.send', message, { agent: 'ben' });
    expect(await count('mail_accepted', { sender: 'agent' })).toBe(1);
    expect(await count('mail_accepted', { sender: 'user' })).toBe(1);
    for (const outcome of ['ok', 'replayed', 'failed', 'refused']) {
      expect([outcome, await count('tool_calls', { tool: 'messages.send', outcome })]).toEqual([outcome, 1]);
    }
  });

  test('what comes from an attempt that is over is a fence that held', async () => {
    const attempt = await bench.begin(project, 'ada');
    const { lease_until_ms: until } = (
      await bench.testing.rows<{ lease_until_ms: number }>(project, 'SELECT lease_until_ms FROM turn_attempts')
    )[0] ?? { lease_until_ms: 0 };
    bench.testing.setNow(until + 1);
    await bench.testing.write(project, (tx) => expireLease(tx, { turn: attempt.turn, attempt: 1 }));
    expect((await attempt.report('complete', { output: { text: 'Late.' } })).status).toBe(409);
    expect((await attempt.tool('messages.send', { recipient: 'ben', body: 'Late.' })).status).toBe(401);
    expect(await count('requests_refused', { code: 'attempt-over' })).toBe(1);
    expect(await count('requests_refused', { code: 'token-rejected' })).toBe(1);
    expect(await count('turns_requeued', { code: 'lease-expired' })).toBe(1);
  });
});
