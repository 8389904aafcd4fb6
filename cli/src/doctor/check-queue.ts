import { checkRedis } from '@suzumio/runtime/queue/check-redis';
import { broken, type Finding, ok, skipped } from './check.js';
import type { OtherClock } from './check-machine.js';

/** What a look at Redis came to. */
export interface QueueCheck {
  readonly finding: Finding;
  readonly clock: OtherClock | undefined;
}

/** Only services that run as processes of their own need Redis. */
export async function checkQueue(redisUrl: string | undefined): Promise<QueueCheck> {
  if (redisUrl === undefined || redisUrl === '') {
    const finding = skipped('redis', 'not configured (SUZUMIO_REDIS_URL): up and serve do without');
    return { finding, clock: undefined };
  }
  const { reachable, problems, version, policy, aheadMs } = await checkRedis(redisUrl);
  const clock = aheadMs === undefined ? undefined : { of: 'Redis', aheadMs };
  if (problems.length === 0) return { finding: ok('redis', `${version ?? 'answers'}, ${policy ?? ''}`), clock };
  const remedy = reachable
    ? 'redis-cli config set maxmemory-policy noeviction, and in its configuration; Redis 7 or later'
    : 'start Redis 7 or later with maxmemory-policy noeviction, or correct SUZUMIO_REDIS_URL';
  return { finding: broken('redis', problems.join(' '), remedy), clock };
}
