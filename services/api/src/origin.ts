import type { Request, RequestHandler } from 'express';
import { SuzumioError } from '@suzumio/shared/errors/suzumio-error';

const loopbackNames = ['localhost', '127.0.0.1', '[::1]'];

/**
 * Refuses requests that were addressed to another name than one of ours: a page of somebody else's can make its own name
 * resolve to this machine, but not make the browser say another one.
 */
export function refuseForeignHosts(allowedHosts: readonly string[]): RequestHandler {
  const names = new Set([...loopbackNames, ...allowedHosts.map((name) => name.toLowerCase())]);
  return (request, _response, next) => {
    const host = hostnameOf(`http://${request.headers.host ?? ''}`);
    if (host === undefined || !names.has(host)) {
      throw new SuzumioError(
        'foreign-host',
        'This server does not answer to that host name; its operator may allow it with SUZUMIO_ALLOWED_HOSTS.',
      );
    }
    next();
  };
}

/** Refuses writes that a page of another origin has sent. */
export const refuseForeignOrigins: RequestHandler = (request, _response, next) => {
  if (request.method !== 'GET' && request.method !== 'HEAD' && comesFromElsewhere(request)) {
    throw new SuzumioError('foreign-origin', 'Pages of other origins may not change anything here.');
  }
  next();
};

/** What every answer carries: nobody guesses its type, keeps a copy, or shows it within a page. */
export const securityHeaders: RequestHandler = (_request, response, next) => {
  response.set({
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  });
  next();
};

function comesFromElsewhere(request: Request): boolean {
  if (request.headers['sec-fetch-site'] === 'cross-site') return true;
  const { origin, host } = request.headers;
  return origin !== undefined && urlOf(origin)?.host !== urlOf(`http://${host ?? ''}`)?.host;
}

function hostnameOf(url: string): string | undefined {
  return urlOf(url)?.hostname;
}

function urlOf(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined;
}
