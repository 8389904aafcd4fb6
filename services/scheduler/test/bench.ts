import { afterEach } from '@jest/globals';
import { createMetrics, type Metrics } from '@suzumio/runtime/observability/metrics';
import { placeOf } from '@suzumio/runtime/queue/jobs';
import type { TurnJob } from '@suzumio/protocol/turn-job';
import type { Transport } from '@suzumio/runtime/queue/transport';
import type { Priority } from '@suzumio/protocol/ids';
import { type Claimed, claimTurn } from '@suzumio/store/turns/claim-turn';
import { prepareTurn } from '@suzumio/store/turns/prepare-turn';
import { postMessage } from '@suzumio/store/mail/post-message';
import { Scheduler, type SchedulerConfig } from '@suzumio/scheduler';
import { type TestCell, testCell, type TestCellOptions } from '../../../test/support/cell.js';
import { recordingLogger } from '../../../test/support/logs.js';

export const start = Date.UTC(2026, 10, 21, 20, 0, 0);

/** Schedulers over a real store and a real transport, with a worker that only collects its jobs. */
export interface Bench {
  testing: TestCell;
  transport: Transport;
  metrics: Metrics;
  logs: () => Record<string, unknown>[];
  /** Every job that a worker took, once {@link Bench.work} was called. */
  jobs: TurnJob[];
  work: (slots?: number) => Promise<void>;
  scheduler: (config?: Partial<SchedulerConfig>) => Promise<Scheduler>;
  /** Advances the store's clock. */
  advance: (ms: number) => void;
  mail: (project: string, agent: string, priority?: Priority) => Promise<void>;
  turns: (project: string) => Promise<TurnFacts[]>;
  claim: (project: string, turn: string, leaseMs?: number) => Promise<Claimed>;
  /** Claims the turn of a job, as a ToolHost does for a worker. */
  claimed: (job: TurnJob) => Promise<void>;
}

export interface TurnFacts {
  id: string;
  agent_id: string;
  status: string;
  delivery: number;
  attempt: number;
}

/** Makes a bench a test; all are closed after it. `connect` opens a transport of its own for each scheduler. */
export function benches(connect: () => Transport): (place?: Pick<TestCellOptions, 'freeBytes'>) => Promise<Bench> {
  const open: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of open.splice(0).reverse()) await close();
  });

  return async (place = {}) => {
    const testing = await testCell({ id: 'main', ...place });
    open.push(() => testing.close());
    let nowMs = start;
    testing.setNow(nowMs);
    const { logger, lines } = recordingLogger();
    const metrics = createMetrics('scheduler');
    const transport = connect();
    open.push(() => transport.close());
    const jobs: TurnJob[] = [];

    const claim: Bench['claim'] = (project, turn, leaseMs = 15_000) =>
      testing.store(project, async (store) => {
        const claimed = await store.write((tx) =>
          claimTurn(tx, {
            turn,
            claimId: `${turn}-claim`.slice(-32),
            worker: 'w1',
            engine: 'test',
            leaseMs,
            hashes: () => ({ lease: 'l', tool: 't' }),
            prepared: prepareTurn(tx, tx.config, turn),
          }),
        );
        if (typeof claimed === 'string') throw new Error(`the claim was ${claimed}`);
        return claimed;
      });

    return {
      testing,
      transport,
      metrics,
      logs: lines,
      jobs,
      async work(slots = 4) {
        await transport.announce({ worker: 'collector', slots });
        transport.consumeTurns({ concurrency: slots }, async (job) => void jobs.push(await Promise.resolve(job)));
      },
      async scheduler(config = {}) {
        const scheduler = new Scheduler(
          { transportName: 'test', sweepIntervalMs: 3_600_000, leaseCheckMs: 3_600_000, ...config },
          { cell: testing.cell, transport, logger, metrics },
        );
        await scheduler.start();
        open.push(() => scheduler.stop());
        return scheduler;
      },
      advance(ms) {
        nowMs += ms;
        testing.setNow(nowMs);
      },
      async mail(project, agent, priority = 'P1') {
        await testing.write(project, (tx) =>
          postMessage(tx, { sender: 'user', recipient: agent, priority, body: 'Go.', actor: 'test' }),
        );
      },
      turns: (project) =>
        testing.rows<TurnFacts>(
          project,
          'SELECT id, agent_id, status, delivery, attempt FROM turns ORDER BY agent_id, number',
        ),
      claim,
      async claimed({ project, turn }) {
        await claim(project, turn);
        const [row] = await testing.rows<{ agent: string }>(
          project,
          `SELECT agent_id AS agent FROM turns WHERE id = '${turn}'`,
        );
        transport.givePlacesBack([placeOf({ project, agent: row?.agent ?? '' })]);
        if (!testing.cell.catalog.waitingLine.empty) transport.wake(project);
      },
    };
  };
}
