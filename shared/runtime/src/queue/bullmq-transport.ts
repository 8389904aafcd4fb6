import { type JobsOptions, Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import * as z from 'zod';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { Logger } from '../observability/logger.js';
import { projectId } from '@suzumio/protocol/ids';
import { consumeBullMq } from './bullmq-consumer.js';
import { createFleet } from './fleet.js';
import { queues, turnJobPriority, type WakeJob } from './jobs.js';
import { type RepositoryDiffJob, repositoryDiffJobId } from '@suzumio/protocol/repository-diff';
import { type TurnJob, turnJobId } from '@suzumio/protocol/turn-job';
import { createListeners } from './listeners.js';
import { createPlaces } from './places.js';
import { createRedisClients } from './redis-clients.js';
import type { Consumer, EventHint, Transport } from './transport.js';
import { settledWithin } from './within.js';

export interface BullMqTransportOptions {
  redisUrl: string;
  cell: string;
  logger: Logger;
  /** Prefix of every key; other users of the same Redis need another. @default 'suzumio' */
  keyPrefix?: string;
}

const hintTimeoutMs = 200;
const jobTimeoutMs = 2_000;
const eventHint = z.object({ project: projectId, seq: z.int().nonnegative() });
/** The states of a job before and during its run. */
const liveStates = new Set(['waiting', 'prioritized', 'active', 'delayed']);
const once: JobsOptions = { attempts: 1, removeOnComplete: true, removeOnFail: true };

/** Carries hints and jobs through Redis, between processes and hosts. */
export function createBullMqTransport(options: BullMqTransportOptions): Transport {
  const { cell, logger } = options;
  // Braces make Redis Cluster keep all keys of a queue on one node.
  const prefix = `{${options.keyPrefix ?? 'suzumio'}}`;
  const hintChannel = `${prefix}:hints:${cell}`;
  const clients = createRedisClients(options.redisUrl, logger);
  const forHints = clients.prompt(hintTimeoutMs);
  const forJobs = clients.prompt(jobTimeoutMs);
  const wakes = openQueue<WakeJob>(queues.wakes.name(cell), forHints.client);
  const turns = openQueue<TurnJob>(queues.turns.name, forJobs.client);
  const diffs = openQueue<RepositoryDiffJob>(queues.repositoryDiffs.name, forJobs.client);
  const fleet = createFleet(forJobs.client, `${prefix}:fleet`);
  const places = createPlaces(forJobs.client, { key: `${prefix}:places:${cell}`, fleet: fleet.keys });
  const hints = createListeners<EventHint>(logger);
  const recovered = createListeners<undefined>(logger);
  const consumers = new Set<Consumer>();
  let subscribed = false;
  let closing: Promise<void> | undefined;
  watchOutages();

  function openQueue<T>(name: string, connection: Redis): Queue<T, void> {
    const queue = new Queue<T, void>(name, {
      connection,
      prefix,
      skipVersionCheck: true,
      skipWaitingForReady: true,
      streams: { events: { maxLen: 100 } },
    });
    queue.on('error', (error) => logger.debug({ err: error, queue: name }, 'the queue reports an error'));
    return queue;
  }

  function watchOutages(): void {
    let away = false;
    forJobs.client.on('close', () => {
      if (away || closing) return;
      away = true;
      logger.warn('Redis is unreachable: turns start by the sweep, more slowly');
    });
    forJobs.client.on('ready', () => {
      if (!away) return;
      away = false;
      logger.info('Redis is reachable again');
      recovered.notify(undefined);
    });
  }

  /** Runs a command for a caller that waits. */
  async function command<R>(run: () => Promise<R>): Promise<R> {
    try {
      return await forJobs.run(run);
    } catch (error) {
      throw new SuzumioError('server-unreachable', 'The queue cannot be reached now.', {}, { cause: error });
    }
  }

  /** Runs a command for a caller that does not wait. */
  function attempt(run: () => Promise<unknown>): void {
    forHints.run(run).catch((error: unknown) => logger.debug({ err: error }, 'a hint was lost'));
  }

  function subscribe(): void {
    if (subscribed) return;
    subscribed = true;
    const { client } = clients.patient();
    // Each connection anew: what ioredis 6.0.0 subscribes to again by itself is rejected uncaught when it is closed meanwhile.
    client.on('ready', () => {
      client.subscribe(hintChannel).catch((error: unknown) => {
        if (!closing) logger.error({ err: error }, 'subscribing to hints failed');
      });
    });
    client.on('message', (_channel: string, message: string) => {
      const hint = parseHint(message);
      if (hint) hints.notify(hint);
    });
  }

  function own<C extends Consumer>(consumer: C): C {
    consumers.add(consumer);
    return consumer;
  }

  return {
    kind: 'redis',
    wake: (project) =>
      attempt(() =>
        wakes.add(
          'wake',
          { project },
          { ...once, deduplication: { id: `${cell}.${project}`, keepLastIfActive: true } },
        ),
      ),
    consumeWakes: (handler) =>
      own(
        consumeBullMq({
          ...queues.wakes,
          queue: queues.wakes.name(cell),
          handler: ({ project }) => handler(project),
          prefix,
          clients,
          logger,
        }),
      ),

    hint: (hint) => attempt(() => forHints.client.publish(hintChannel, JSON.stringify(hint))),
    onHint: (listener) => {
      subscribe();
      return hints.add(listener);
    },

    takePlaces: (wanted) => command(() => places.take(wanted)),
    // On the connection of wakes, so that places are free before a later wake arrives.
    givePlacesBack: (held) => attempt(() => forHints.client.zrem(places.key, ...held)),
    heldPlaces: (olderThanMs) => command(() => places.held(olderThanMs)),

    addTurnJob: (job) =>
      command(async () => {
        await turns.add('turn', job, { ...once, jobId: turnJobId(job), priority: turnJobPriority });
      }),
    liveTurnJobs: (jobs) =>
      command(async () => {
        const ids = jobs.map(turnJobId);
        const states = await Promise.all(ids.map((id) => turns.getJobState(id)));
        return new Set(ids.filter((_id, index) => liveStates.has(states[index] ?? 'unknown')));
      }),
    turnJobs: () =>
      command(async () => {
        const {
          waiting = 0,
          prioritized = 0,
          active = 0,
          delayed = 0,
        } = await turns.getJobCounts('waiting', 'prioritized', 'active', 'delayed');
        return { waiting: waiting + prioritized, active, delayed };
      }),
    turnJobsAhead: (job) =>
      command(async () => {
        const id = turnJobId(job);
        // Every job has a priority, so that all waiting jobs are in one sorted set.
        return (await forJobs.client.zrank(turns.toKey('prioritized'), id)) ?? undefined;
      }),
    consumeTurns: ({ concurrency }, handler) =>
      own(consumeBullMq({ ...queues.turns, queue: queues.turns.name, concurrency, handler, prefix, clients, logger })),

    addRepositoryDiff: (job) =>
      command(async () => {
        await diffs.add('repository-diff', job, { ...once, jobId: repositoryDiffJobId(job) });
      }),
    consumeRepositoryDiffs: (handler) =>
      own(
        consumeBullMq({
          ...queues.repositoryDiffs,
          queue: queues.repositoryDiffs.name,
          handler,
          prefix,
          clients,
          logger,
        }),
      ),

    announce: (presence) => command(() => fleet.announce(presence)),
    depart: (worker) => command(() => fleet.depart(worker)),
    fleet: () => command(() => fleet.workers()),
    lostWorkers: () => command(() => fleet.lost()),

    healthy: () =>
      Promise.all([forHints, forJobs].map((prompt) => prompt.run(() => prompt.client.ping()))).then(
        () => true,
        () => false,
      ),
    onRecovered: (listener) => recovered.add(listener),
    close: () => (closing ??= close()),
  };

  async function close(): Promise<void> {
    await Promise.all([...consumers].map((consumer) => consumer.close()));
    await settledWithin(Promise.all([wakes.close(), turns.close(), diffs.close()]), jobTimeoutMs);
    await clients.close();
  }
}

function parseHint(message: string): EventHint | undefined {
  try {
    return eventHint.parse(JSON.parse(message));
  } catch {
    return undefined;
  }
}
