import { Redis } from 'ioredis';
import type { Logger } from '../observability/logger.js';
import { settledWithin } from './within.js';

const longestRetryMs = 500;
const connectTimeoutMs = 2_000;
/** How long a connection may take to close before it is cut. */
const disconnectTimeoutMs = 500;
/** How long a command waits at least for a connection that is being opened; else as long as for its answer. */
const arrivalMs = 500;
/** A connection with a pending command and no traffic for so long counts as dead. */
const socketTimeoutMs = 15_000;

/** The connections to one Redis; all of them are closed together. */
export interface RedisClients {
  /** Fails at once while Redis is unreachable, and after `commandTimeoutMs` without an answer. */
  prompt(commandTimeoutMs: number): PromptClient;
  /** Waits for Redis through any outage. */
  patient(): PatientClient;
  /** Opens no more connections; open ones close within the bound. */
  close(): Promise<void>;
}

/** A connection for commands that should fail rather than wait. */
export interface PromptClient {
  readonly client: Redis;
  /** Runs `command` when the connection is up, or comes up within a moment; otherwise rejects without trying. */
  run<R>(command: () => Promise<R>): Promise<R>;
}

/** A connection and the copies that its user made of it. */
export interface PatientClient {
  readonly client: Redis;
  /**
   * Interrupts the copies' blocking commands by cutting their connections; their user reconnects them. Once this
   * resolves, Redis sends nothing more into the old connections, where it would be lost.
   */
  interruptCopies(): Promise<void>;
  /** The copies do not reconnect any more; resolves when each is either usable or ended. */
  retireCopies(): Promise<void>;
  /** The same for the connection itself. Pending commands are rejected. */
  retire(): Promise<void>;
  disconnect(): void;
}

export function createRedisClients(url: string, logger: Logger): RedisClients {
  const all = new Set<Redis>();
  let closed = false;

  function track(client: Redis): Redis {
    all.add(client);
    // The watcher reports an outage once; without a listener, ioredis prints every failure.
    client.on('error', (error) => logger.debug({ err: error }, 'a Redis connection failed'));
    return client;
  }

  const common = {
    connectTimeout: connectTimeoutMs,
    disconnectTimeout: disconnectTimeoutMs,
    socketTimeout: socketTimeoutMs,
    maxRetriesPerRequest: null,
    autoResubscribe: false,
  };

  function retry(retired: () => boolean) {
    return (times: number) => (closed || retired() ? null : Math.min(times * 50, longestRetryMs));
  }

  return {
    prompt(commandTimeout) {
      const retryStrategy = retry(() => false);
      const client = track(new Redis(url, { ...common, retryStrategy, enableOfflineQueue: false, commandTimeout }));
      let arrival: Promise<unknown> | undefined;
      return {
        client,
        async run(command) {
          if (client.status === 'connecting' || client.status === 'connect') {
            arrival ??= settledWithin(
              nextEvent(client, ['ready', 'close', 'end']),
              Math.max(arrivalMs, commandTimeout),
            );
            await arrival;
          }
          arrival = undefined;
          if (client.status !== 'ready') throw new Error(`the connection to Redis is not up (${client.status})`);
          return command();
        },
      };
    },
    patient() {
      let retired = false;
      let copiesRetired = false;
      const copies: Redis[] = [];
      const client = track(new Redis(url, { ...common, retryStrategy: retry(() => retired) }));
      const duplicate = client.duplicate.bind(client);
      client.duplicate = (override) => {
        const copy = track(duplicate({ ...override, retryStrategy: retry(() => copiesRetired) }));
        copies.push(copy);
        return copy;
      };
      return {
        client,
        async interruptCopies() {
          await Promise.all(copies.map(interrupt));
        },
        async retireCopies() {
          copiesRetired = true;
          await Promise.all(copies.map(readyOrEnded));
        },
        async retire() {
          retired = true;
          await readyOrEnded(client);
        },
        disconnect() {
          for (const connection of [client, ...copies]) end(connection);
        },
      };
    },
    async close() {
      closed = true;
      for (const client of all) end(client);
      await settledWithin(Promise.all([...all].map(ended)), longestRetryMs + disconnectTimeoutMs);
    },
  };
}

/** While a client waits to reconnect, `disconnect` would leave it, and its pending commands, hanging for good. */
function end(client: Redis): void {
  if (client.status !== 'reconnecting' && client.status !== 'end') client.disconnect();
}

async function interrupt(client: Redis): Promise<void> {
  if (client.status !== 'ready') return;
  const closed = nextEvent(client, ['close', 'end']);
  client.disconnect();
  await settledWithin(closed, connectTimeoutMs);
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
