import { Redis } from 'ioredis';
import type { Logger } from '../observability/logger.js';
import { settledWithin } from './within.js';

const longestRetryMs = 500;
const connectTimeoutMs = 2_000;
/** A connection on which an answer is due and nothing comes for so long is dead, whatever TCP says. */
const socketTimeoutMs = 10_000;

/** The connections to one Redis; all of them are closed together. */
export interface RedisClients {
  /** Fails at once while Redis is away, and after `commandTimeoutMs` where it does not answer. */
  prompt(commandTimeoutMs: number): Redis;
  /** Waits for Redis, however long it is away. */
  patient(): PatientClient;
  /** No connection is opened from now on; those that are open close within the bound. */
  close(): Promise<void>;
}

/** A connection and the copies that its user made of it. */
export interface PatientClient {
  readonly client: Redis;
  readonly copies: readonly Redis[];
  /** Does not reconnect any more; resolves when every connection is either usable or ended. */
  retire(): Promise<void>;
  disconnect(): void;
}

export function createRedisClients(url: string, logger: Logger): RedisClients {
  const all = new Set<Redis>();
  let closed = false;

  function track(client: Redis): Redis {
    all.add(client);
    // An outage is reported once by whoever watches it; without a listener ioredis prints every failure.
    client.on('error', (error) => logger.debug({ err: error }, 'a Redis connection failed'));
    return client;
  }

  const common = {
    connectTimeout: connectTimeoutMs,
    socketTimeout: socketTimeoutMs,
    maxRetriesPerRequest: null,
  };

  function retry(retired: () => boolean) {
    return (times: number) => (closed || retired() ? null : Math.min(times * 50, longestRetryMs));
  }

  return {
    prompt(commandTimeout) {
      const retryStrategy = retry(() => false);
      return track(new Redis(url, { ...common, retryStrategy, enableOfflineQueue: false, commandTimeout }));
    },
    patient() {
      let retired = false;
      const copies: Redis[] = [];
      const client = track(new Redis(url, { ...common, retryStrategy: retry(() => retired) }));
      const duplicate = client.duplicate.bind(client);
      client.duplicate = (override) => {
        const copy = track(duplicate(override));
        copies.push(copy);
        return copy;
      };
      const connections = () => [client, ...copies];
      return {
        client,
        copies,
        async retire() {
          retired = true;
          await Promise.all(connections().map(readyOrEnded));
        },
        disconnect() {
          for (const connection of connections()) end(connection);
        },
      };
    },
    async close() {
      closed = true;
      for (const client of all) end(client);
      await settledWithin(Promise.all([...all].map(ended)), longestRetryMs + connectTimeoutMs);
    },
  };
}

/** Resolves when `client` can be used; or cannot, at the latest after `ms`. Which of them it is, its status says. */
export async function readyWithin(client: Redis, ms: number): Promise<void> {
  if (client.status === 'connecting' || client.status === 'connect') {
    await settledWithin(nextEvent(client, ['ready', 'close', 'end']), ms);
  }
}

/** While a client waits for its next try, `disconnect` would leave it, and what waits on it, hanging for good. */
function end(client: Redis): void {
  if (client.status !== 'reconnecting' && client.status !== 'end') client.disconnect();
}

async function readyOrEnded(client: Redis): Promise<void> {
  if (client.status !== 'ready' && client.status !== 'end') await nextEvent(client, ['ready', 'end']);
}

async function ended(client: Redis): Promise<void> {
  if (client.status !== 'end') await nextEvent(client, ['end']);
}

function nextEvent(client: Redis, events: readonly string[]): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      for (const event of events) client.off(event, done);
      resolve();
    };
    for (const event of events) client.on(event, done);
  });
}
