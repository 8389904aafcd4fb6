import type { Logger } from '../observability/logger.js';
import { closeWithinMs, type TurnConsumer } from './transport.js';
import { settledWithin } from './within.js';

/** Rules for the items of {@link createInProcessQueue}. */
export interface InProcessQueueRules<T> {
  idOf(item: T): string;
  /** Whether an item that arrives while its id runs waits for that run to end, or is dropped. */
  whileRunning: 'wait' | 'drop';
}

export interface InProcessQueue<T> {
  /** Adds an item, unless its id waits already. */
  add(item: T): void;
  /** Whether an item of this id waits or runs. */
  has(id: string): boolean;
  /** How many items wait. */
  readonly waiting: number;
  /** How many items are being handled. */
  readonly active: number;
  /** How many items precede the one with this id; undefined where it does not wait. */
  ahead(id: string): number | undefined;
  consume(concurrency: number, handler: (item: T) => Promise<void>): TurnConsumer;
  close(): Promise<void>;
}

interface Taker<T> {
  concurrency: number;
  handler: (item: T) => Promise<void>;
  paused: boolean;
  running: Set<Promise<void>>;
}

/** A queue in memory: no two items with one id run at once. */
export function createInProcessQueue<T>(rules: InProcessQueueRules<T>, logger: Logger): InProcessQueue<T> {
  const waiting = new Map<string, T>();
  const running = new Set<string>();
  const takers = new Set<Taker<T>>();
  const consumers = new Set<TurnConsumer>();
  let scheduled: NodeJS.Immediate | undefined;

  /** Handlers start in a later turn of the event loop, so that `add` does not wait for them. */
  function schedule(): void {
    scheduled ??= setImmediate(() => {
      scheduled = undefined;
      for (const taker of takers) fill(taker);
    });
  }

  function fill(taker: Taker<T>): void {
    while (!taker.paused && taker.running.size < taker.concurrency) {
      const id = next();
      const item = id === undefined ? undefined : waiting.get(id);
      if (id === undefined || item === undefined) return;
      waiting.delete(id);
      running.add(id);
      const run = taker
        .handler(item)
        .catch((error: unknown) => logger.error({ err: error, job: id }, 'a job handler failed'))
        .then(() => {
          running.delete(id);
          taker.running.delete(run);
          schedule();
        });
      taker.running.add(run);
    }
  }

  /** Items are taken in order of arrival. */
  function next(): string | undefined {
    for (const id of waiting.keys()) if (!running.has(id)) return id;
    return undefined;
  }

  return {
    add(item) {
      const id = rules.idOf(item);
      if (waiting.has(id) || (rules.whileRunning === 'drop' && running.has(id))) return;
      waiting.set(id, item);
      schedule();
    },
    get waiting() {
      return waiting.size;
    },
    get active() {
      return running.size;
    },
    ahead(id) {
      const place = [...waiting.keys()].indexOf(id);
      return place === -1 ? undefined : place;
    },
    has: (id) => waiting.has(id) || running.has(id),
    consume(concurrency, handler) {
      const taker: Taker<T> = { concurrency, handler, paused: false, running: new Set() };
      takers.add(taker);
      schedule();
      const consumer: TurnConsumer = {
        pause() {
          taker.paused = true;
          return Promise.resolve();
        },
        resume() {
          taker.paused = false;
          schedule();
        },
        async close() {
          takers.delete(taker);
          taker.paused = true;
          const finished = await settledWithin(Promise.all(taker.running), closeWithinMs);
          if (!finished) logger.warn({ running: taker.running.size }, 'closed while handlers still run');
          consumers.delete(consumer);
        },
      };
      consumers.add(consumer);
      return consumer;
    },
    async close() {
      await Promise.all([...consumers].map((consumer) => consumer.close()));
      clearImmediate(scheduled);
    },
  };
}
