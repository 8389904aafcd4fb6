import type { RequestHandler, Response } from 'express';
import { SuzumioError } from '@suzumio/shared/errors/suzumio-error';
import type { ApiIdentity, Catalog } from '@suzumio/shared/store/catalog';

/** Lets nobody pass whose token is not known, or is not for what the request does. */
export function authenticate(catalog: Catalog): RequestHandler {
  return (request, response, next) => {
    const secret = /^Bearer +(\S+) *$/i.exec(request.headers.authorization ?? '')?.[1];
    const identity = secret === undefined ? undefined : catalog.identify(secret);
    if (!identity) {
      throw new SuzumioError('unauthenticated', 'This needs a token: Authorization: Bearer <token>.');
    }
    const needed = request.method === 'GET' || request.method === 'HEAD' ? 'read' : 'write';
    if (!scopesThatMay[needed].includes(identity.scope)) {
      throw new SuzumioError(
        'forbidden',
        `The token "${identity.name}" has the scope ${identity.scope}; this needs ${needed}.`,
      );
    }
    identities(response).identity = identity;
    next();
  };
}

const scopesThatMay: Readonly<Record<'read' | 'write', readonly ApiIdentity['scope'][]>> = {
  read: ['read', 'write', 'admin'],
  write: ['write', 'admin'],
};

/** Who sent the request that `response` answers. */
export function identityOf(response: Response): ApiIdentity {
  const { identity } = identities(response);
  if (!identity) throw new Error('a route was reached without authentication');
  return identity;
}

/** @throws SuzumioError `forbidden` when the token is for another project */
export function requireProject(identity: ApiIdentity, project: string): void {
  if (identity.project === null || identity.project === project) return;
  throw new SuzumioError('forbidden', `The token "${identity.name}" is for the project ${identity.project} only.`);
}

function identities(response: Response): { identity?: ApiIdentity } {
  return response.locals;
}
