import { Redis } from 'ioredis';
import { messageOf } from '@suzumio/contract/errors/suzumio-error';

/** The report of `doctor` on a Redis. */
export interface RedisReport {
  reachable: boolean;
  version?: string;
  /** Its eviction policy. */
  policy?: string;
  /** How far its clock is ahead of this host's. */
  aheadMs?: number;
  /** The problems, one sentence each. */
  problems: readonly string[];
}

const oldestMajor = 7;
const checkTimeoutMs = 2_000;

/** Checks whether the Redis at `url` can carry the queues. Never rejects, and never shows the URL's password. */
export async function checkRedis(url: string): Promise<RedisReport> {
  const client = new Redis(url, {
    lazyConnect: true,
    connectTimeout: checkTimeoutMs,
    commandTimeout: checkTimeoutMs,
    retryStrategy: () => null,
  });
  let failure: unknown;
  client.on('error', (error) => (failure = error));
  try {
    await client.connect();
    const sentMs = Date.now();
    const [seconds = '0', micros = '0'] = (await client.time()).map(String);
    const aheadMs = Number(seconds) * 1000 + Number(micros) / 1000 - (sentMs + Date.now()) / 2;
    return { ...report(await client.info()), aheadMs };
  } catch (error) {
    return { reachable: false, problems: [`Redis does not answer: ${messageOf(failure ?? error)}.`] };
  } finally {
    client.disconnect();
  }
}

function report(info: string): RedisReport {
  const field = (name: string) => new RegExp(`^${name}:(.*)$`, 'm').exec(info)?.[1]?.trim();
  const version = field('redis_version') ?? 'unknown';
  const policy = field('maxmemory_policy') ?? 'unknown';
  const problems: string[] = [];
  if (!(Number.parseInt(version, 10) >= oldestMajor)) {
    problems.push(`Redis is version ${version}; version ${oldestMajor} or later is needed.`);
  }
  if (policy !== 'noeviction') {
    problems.push(
      `Redis drops keys when its memory is full (maxmemory-policy ${policy}); jobs would vanish: set it to noeviction.`,
    );
  }
  return { reachable: true, version, policy, problems };
}
