import type { RequestHandler } from 'express';

/** What every answer carries: nobody guesses its type, keeps a copy, or shows it within a page. */
export const securityHeaders: RequestHandler = (_request, response, next) => {
  response.set({
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  });
  next();
};
