import { BurstyRateLimiter, RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';

/** Requests per second; 0 means no limit. */
export interface RateLimits {
  /** Reads of one token. */
  readsPerSecond: number;
  /** Writes of one token. */
  writesPerSecond: number;
  /** Requests of one address without a valid token. */
  failuresPerSecond: number;
  /** The burst that is allowed once a minute, as the requests of so many seconds. */
  burstSeconds: number;
}

export const defaultRateLimits: RateLimits = {
  readsPerSecond: 500,
  writesPerSecond: 100,
  failuresPerSecond: 20,
  burstSeconds: 30,
};

const burstEverySeconds = 60;

/** Counts each sender's requests in this process. */
export interface RateLimiter {
  /** @throws SuzumioError `rate-limited` when that was one too many */
  count(sender: string): Promise<void>;
}

/** @param burst how many more are allowed at once, once a minute */
export function createRateLimiter(perSecond: number, burst: number): RateLimiter {
  if (perSecond === 0) return unlimited;
  const steady = new RateLimiterMemory({ points: perSecond, duration: 1 });
  const limiter =
    burst === 0
      ? steady
      : new BurstyRateLimiter(steady, new RateLimiterMemory({ points: burst, duration: burstEverySeconds }));
  return {
    async count(sender) {
      try {
        await limiter.consume(sender);
      } catch (error) {
        throw error instanceof Error ? error : tooMany(error as RateLimiterRes);
      }
    },
  };
}

const unlimited: RateLimiter = { count: () => Promise.resolve() };

function tooMany({ msBeforeNext }: RateLimiterRes): SuzumioError {
  const retryAfterSeconds = Math.max(1, Math.ceil(msBeforeNext / 1_000));
  return new SuzumioError('rate-limited', `Too many requests; go on in ${retryAfterSeconds} s.`, { retryAfterSeconds });
}
