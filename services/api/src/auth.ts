import type { RequestHandler, Response } from 'express';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { anonymousActor, type ApiScope, apiScopes, type TokenScope } from '@suzumio/contract/model/access-token';
import type { ApiIdentity, ApiTokens } from '@suzumio/store/cell/api-tokens';
import type { Catalog } from '@suzumio/store/cell/catalog';
import { defaultScope, type Operation, scopeOf } from '@suzumio/contract/operations/operation';
import { operationFor } from './operations-at.js';
import type { RateLimiter } from './rate-limiter.js';

/** Who acts where no token is asked for. */
const anybody: ApiIdentity = { tokenId: null, name: anonymousActor, scope: 'admin', project: null, agents: null };

const tokenMissing = 'This needs a token: Authorization: Bearer <token>.';
const tokenNotGood = 'The token that was shown is not good: it is unknown, was revoked, or has expired.';

export interface AuthenticationOptions {
  /** Whether requests without a token may do everything. A token that is shown has to be good all the same. */
  open: boolean;
  /** How often an address may show none that is good. */
  failures: RateLimiter;
}

/**
 * Lets nobody pass whose token is not known. An address that failed too often is told to wait; good tokens from there are
 * good all the same, for others may share it, and nobody guesses 256 bits.
 */
export function authenticate(catalog: Catalog, { open, failures }: AuthenticationOptions): RequestHandler {
  return async (request, response, next) => {
    const { authorization } = request.headers;
    const identity = authorization === undefined && open ? anybody : holderOf(authorization, catalog);
    if (!identity) {
      await failures.count(request.socket.remoteAddress ?? '');
      throw new SuzumioError('unauthenticated', authorization === undefined ? tokenMissing : tokenNotGood);
    }
    identities(response).identity = identity;
    next();
  };
}

/**
 * A body may take hours to arrive: what was let in when it began is looked at again where it has come.
 *
 * @throws SuzumioError `unauthenticated` when the request's token has been revoked or has expired since
 */
export function requireStillGood(tokens: ApiTokens, response: Response): void {
  const { tokenId } = identityOf(response);
  if (tokenId !== null && !tokens.stillGood(tokenId)) throw tokenEnded();
}

export function tokenEnded(): SuzumioError {
  return new SuzumioError('unauthenticated', 'The token is not good any more.');
}

/** Lets nobody pass whose token is not for what the request does. */
export const authorize: RequestHandler = (request, response, next) => {
  const operation = operationFor(request.method, `${request.baseUrl}${request.path}`);
  requireScope(response, operation === undefined ? defaultScope(request.method) : scopeOf(operation));
  next();
};

/** @throws SuzumioError `forbidden` when the request's token is for less than an operation of the whole cell */
export function requireReach(response: Response, operation: Operation): void {
  requireScope(response, scopeOf(operation));
  requireWholeCell(identityOf(response));
}

/** @throws SuzumioError `forbidden` when the request's token is for less */
function requireScope(response: Response, needed: ApiScope): void {
  const { name, scope } = identityOf(response);
  const order: readonly TokenScope[] = apiScopes;
  if (order.indexOf(scope) >= order.indexOf(needed)) return;
  throw new SuzumioError(
    'forbidden',
    `The token "${name}" has the scope ${scope}; this needs ${needed}${needed === 'admin' ? '' : ' or more'}.`,
  );
}

/** @throws SuzumioError `forbidden` when the token is for another project */
export function requireProject(identity: ApiIdentity, project: string): void {
  if (identity.project !== project) requireWholeCell(identity);
}

/** @throws SuzumioError `forbidden` when the token is for one project */
export function requireWholeCell({ name, project }: ApiIdentity): void {
  if (project === null) return;
  throw new SuzumioError('forbidden', `The token "${name}" is for the project ${project} only.`);
}

/** Who sent the request that `response` answers. */
export function identityOf(response: Response): ApiIdentity {
  const { identity } = identities(response);
  if (!identity) throw new Error('a route was reached without authentication');
  return identity;
}

/** The same, for requests that may not have come as far as that. */
export function identityIfKnown(response: Response): ApiIdentity | undefined {
  return identities(response).identity;
}

function holderOf(authorization: string | undefined, catalog: Catalog): ApiIdentity | undefined {
  const secret = /^Bearer +([\x21-\x7e]{1,500}) *$/i.exec(authorization ?? '')?.[1];
  return secret === undefined ? undefined : catalog.tokens.identify(secret);
}

function identities(response: Response): { identity?: ApiIdentity } {
  return response.locals;
}
