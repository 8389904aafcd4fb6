import type { RequestHandler } from 'express';
import { identityOf } from './auth.js';
import { createRateLimiter, type RateLimits } from './rate-limiter.js';

/** Limits the requests of each token. */
export function limitRates({ readsPerSecond, writesPerSecond, burstSeconds }: RateLimits): RequestHandler {
  const reads = createRateLimiter(readsPerSecond, readsPerSecond * burstSeconds);
  const writes = createRateLimiter(writesPerSecond, writesPerSecond * burstSeconds);
  return async (request, response, next) => {
    const limiter = request.method === 'GET' || request.method === 'HEAD' ? reads : writes;
    await limiter.count(identityOf(response).name);
    next();
  };
}
