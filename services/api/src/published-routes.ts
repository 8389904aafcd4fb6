import type { RequestHandler } from 'express';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { publishedRoutes } from '@suzumio/contract/operations/published-routes';
import { pathPattern } from './operations-at.js';

const aliases = publishedRoutes.flatMap((route) =>
  route.meaning === 'alias' ? [{ pattern: pathPattern(route.path), of: route.of }] : [],
);
const refused = publishedRoutes.flatMap((route) =>
  route.meaning === 'refused' ? [{ ...route, pattern: pathPattern(route.path) }] : [],
);

/**
 * Makes a request at another name of an operation's path one at that path, whatever its method. It comes before what
 * asks who is there and what they may, so that all of that is the operation's.
 */
export const followAliases: RequestHandler = (request, _response, next) => {
  for (const { pattern, of } of aliases) {
    const parts = pattern.exec(request.path)?.groups;
    if (!parts) continue;
    const path = of.replaceAll(/:(\w+)/g, (_whole, name: string) => parts[name] ?? '');
    const query = request.url.indexOf('?');
    request.url = query === -1 ? path : path + request.url.slice(query);
    break;
  }
  next();
};

/** Says at a route of the published Suzumio that is none here what to use instead. */
export const refusePublishedRoutes: RequestHandler = (request, _response, next) => {
  const method = request.method === 'HEAD' ? 'get' : request.method.toLowerCase();
  const route = refused.find((one) => one.method === method && one.pattern.test(request.path));
  if (!route) {
    next();
    return;
  }
  throw new SuzumioError('not-found', `There is no ${method.toUpperCase()} ${route.path} here: ${route.here}.`);
};
