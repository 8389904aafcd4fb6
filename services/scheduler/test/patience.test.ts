import { expect, test } from '@jest/globals';
import { silentLogger } from '@suzumio/runtime/observability/logger';
import { createInProcessTransport } from '@suzumio/runtime/queue/in-process-transport';
import { attemptRow, turnRow } from '@suzumio/store/rows';
import { endByFailure } from '@suzumio/store/turns/fail-attempt';
import { eventually } from '../../../test/support/poll.js';
import { type Bench, benches } from './bench.js';
import { roundsIn } from './rounds.js';

const bench = benches(() => createInProcessTransport({ logger: silentLogger() }));

const circuit = 'models.test#01234567/m';
const failure = { code: 'provider-unavailable' as const, message: 'models.test: Come back in an hour.' };
const patient = `
name: patient
task: Wait.
turn: { providerPatience: 25s }
backend: { runner: { mode: mock } }
agents: { ada: { role: worker, prompt: Work. } }
`;

/** Ends the attempt of a turn because its model wants to be left alone for an hour. */
async function sentAway({ testing }: Bench, project: string, turn: string): Promise<void> {
  const caller = { circuit, project, call: 'call_1' };
  const { untilMs } = await testing.cell.catalog.circuits.failed(caller, {
    opensFor: 'all',
    error: failure.message,
    retryAfterMs: 3_600_000,
  });
  await testing.write(project, (tx) => {
    const attempt = attemptRow(tx, turn, 1);
    if (!attempt) throw new Error('the attempt is gone');
    return endByFailure(tx, turnRow(tx, turn), attempt, failure, {
      wait: { provider: circuit, untilMs, asked: true },
    });
  });
}

async function afterMoreSweeps({ metrics }: Bench): Promise<void> {
  const sweeps = () => roundsIn(metrics, 'sweep');
  const before = await sweeps();
  await eventually('projects were looked at again', async () => (await sweeps()) > before + 1);
}

test('a sweep fails a turn whose patience with its model is over, without another attempt, however long the model asked to be left alone', async () => {
  const made = await bench();
  const { testing, mail, work, scheduler, jobs, claim, turns, advance } = made;
  const project = await testing.create(patient);
  await mail(project, 'ada');
  await work();
  await scheduler({ sweepIntervalMs: 5 });
  await eventually('the job arrives', () => jobs.length === 1);
  const turn = jobs[0]?.turn ?? '';
  await claim(project, turn);
  await sentAway(made, project, turn);
  advance(24_999);
  await afterMoreSweeps(made);
  expect(await turns(project)).toMatchObject([{ id: turn, status: 'queued', attempt: 1 }]);
  advance(1);
  await eventually('it is given up', async () => (await turns(project))[0]?.status === 'failed');
  const [row] = await testing.rows<{ failure: string }>(project, 'SELECT failure_json AS failure FROM turns');
  expect(JSON.parse(row?.failure ?? '')).toEqual(failure);
  await afterMoreSweeps(made);
  expect(jobs).toHaveLength(1);
  expect(await turns(project)).toHaveLength(1);
});
