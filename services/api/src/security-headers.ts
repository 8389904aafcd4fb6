import type { RequestHandler } from 'express';

/** Headers of every answer: no guessing of media types, no caching, no framing. */
export const securityHeaders: RequestHandler = (_request, response, next) => {
  response.set({
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  });
  next();
};
