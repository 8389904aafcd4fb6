import { BurstyRateLimiter, RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';

/** How many requests a second are answered; 0 sets no bound. */
export interface RateLimits {
  /** Of one token, those that read. */
  readsPerSecond: number;
  /** Of one token, those that change something. */
  writesPerSecond: number;
  /** Of one address, those without a good token. */
  failuresPerSecond: number;
  /** What this many seconds allow may come all at once, once a minute. */
  burstSeconds: number;
}

export const defaultRateLimits: RateLimits = {
  readsPerSecond: 500,
  writesPerSecond: 100,
  failuresPerSecond: 20,
  burstSeconds: 30,
};

const burstEverySeconds = 60;

/** Counts what one sender does, in this process. */
export interface RateLimiter {
  /** @throws SuzumioError `rate-limited` when that was one too many */
  count(sender: string): Promise<void>;
}

/** @param burst how many more may come at once, once a minute */
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
        throw error instanceof RateLimiterRes ? tooMany(error.msBeforeNext) : error;
      }
    },
  };
}

const unlimited: RateLimiter = { count: () => Promise.resolve() };

function tooMany(msBeforeNext: number): SuzumioError {
  const retryAfterSeconds = Math.max(1, Math.ceil(msBeforeNext / 1_000));
  return new SuzumioError('rate-limited', `Too many requests; go on in ${retryAfterSeconds} s.`, { retryAfterSeconds });
}
