import type { Request, RequestHandler, Response } from 'express';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { anonymousActor } from '@suzumio/contract/model/access-token';
import { type ApiScope, includesScope } from '@suzumio/contract/model/api-scopes';
import type { ApiIdentity, ApiTokens } from '@suzumio/store/cell/api-tokens';
import type { Catalog } from '@suzumio/store/cell/catalog';
import { defaultScope, type Operation, scopeOf } from '@suzumio/contract/operations/operation';
import { browserPlace, isOwnPage } from './browser-place.js';
import { operationFor } from './operations-at.js';
import type { RateLimiter } from './rate-limiter.js';
import { sessionSecret } from './session-cookie.js';

/** The identity of requests where no token is required. */
export const anybody: ApiIdentity = {
  tokenId: null,
  sessionId: null,
  name: anonymousActor,
  scope: 'admin',
  project: null,
  agents: null,
};

const tokenMissing = 'This needs a token: Authorization: Bearer <token>.';
const tokenNotGood = 'The token that was shown is not good: it is unknown, was revoked, or has expired.';

export interface AuthenticationOptions {
  /** The identity of requests without a token; undefined refuses them. A token that is sent must be valid all the same. */
  withoutToken: ApiIdentity | undefined;
  /** Limits how often an address may fail to authenticate. */
  failures: RateLimiter;
  /** The server's public address. */
  publicUrl: string | undefined;
}

/**
 * Refuses requests without a valid token. An address that failed too often has to wait; valid tokens from there still
 * pass, since others may share the address, and 256 bits cannot be guessed.
 */
export function authenticate(catalog: Catalog, options: AuthenticationOptions): RequestHandler {
  const { withoutToken, failures, publicUrl } = options;
  return async (request, response, next) => {
    const { authorization } = request.headers;
    const shown =
      authorization === undefined ? browserOf(request, catalog, publicUrl) : holderOf(authorization, catalog);
    const identity = shown ?? (authorization === undefined ? withoutToken : undefined);
    if (!identity) {
      await failures.count(request.socket.remoteAddress ?? '');
      throw new SuzumioError(
        'unauthenticated',
        authorization === undefined ? whyNobody(request, catalog, publicUrl) : tokenNotGood,
      );
    }
    identities(response).identity = identity;
    if (identity.tokenId !== null) catalog.tokens.seen(identity.tokenId);
    if (identity.sessionId !== null) await catalog.sessions.seen(identity.sessionId);
    next();
  };
}

/**
 * Checks a token again once the body has arrived, which may take hours.
 *
 * @throws SuzumioError `unauthenticated` when the request's token was revoked or has expired since
 */
export function requireStillGood(tokens: ApiTokens, response: Response): void {
  const { tokenId, sessionId } = identityOf(response);
  if (tokenId !== null && !tokens.stillGood(tokenId, sessionId)) throw tokenEnded();
}

export function tokenEnded(): SuzumioError {
  return new SuzumioError('unauthenticated', 'The token is not good any more.');
}

/** Refuses requests whose token's scope does not include the operation. */
export const authorize: RequestHandler = (request, response, next) => {
  const operation = operationFor(request.method, `${request.baseUrl}${request.path}`);
  requireScope(response, operation === undefined ? defaultScope(request.method) : scopeOf(operation));
  next();
};

/** @throws SuzumioError `forbidden` when the token's scope does not include an operation of the whole cell */
export function requireReach(response: Response, operation: Operation): void {
  requireScope(response, scopeOf(operation));
  requireWholeCell(identityOf(response));
}

/** @throws SuzumioError `forbidden` when the token's scope is too small */
function requireScope(response: Response, needed: ApiScope): void {
  const { name, scope } = identityOf(response);
  if (includesScope(scope, needed)) return;
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

/** The identity behind the request that `response` answers. */
export function identityOf(response: Response): ApiIdentity {
  const { identity } = identities(response);
  if (!identity) throw new Error('a route was reached without authentication');
  return identity;
}

/** The same for requests that may have failed to authenticate. */
export function identityIfKnown(response: Response): ApiIdentity | undefined {
  return identities(response).identity;
}

function holderOf(authorization: string, catalog: Catalog): ApiIdentity | undefined {
  const secret = /^Bearer +([\x21-\x7e]{1,500}) *$/i.exec(authorization)?.[1];
  return secret === undefined ? undefined : catalog.tokens.identify(secret);
}

/**
 * Who is signed in in the browser that sent a request; undefined where nobody is.
 *
 * @throws SuzumioError `foreign-origin` where a page of another origin sent it
 */
function browserOf(request: Request, catalog: Catalog, publicUrl: string | undefined): ApiIdentity | undefined {
  const shown = shownSession(request, publicUrl);
  if (shown === undefined) return undefined;
  const { place, secret } = shown;
  if (!isOwnPage(request.method, request.headers, place)) {
    throw new SuzumioError('foreign-origin', 'A session opens what its own page asks for, and nothing to other pages.');
  }
  return catalog.sessions.identify(secret);
}

function shownSession(request: Request, publicUrl: string | undefined) {
  const place = browserPlace(request.headers, publicUrl);
  const secret = place && sessionSecret(request, place);
  return place === undefined || secret === undefined ? undefined : { place, secret };
}

/** Why a request without a token comes from nobody: it shows no session, or one that has ended. */
function whyNobody(request: Request, catalog: Catalog, publicUrl: string | undefined): string {
  const shown = shownSession(request, publicUrl);
  if (shown) return catalog.sessions.whyEnded(shown.secret);
  return request.headers['sec-fetch-site'] === undefined ? tokenMissing : 'Nobody is signed in in this browser.';
}

function identities(response: Response): { identity?: ApiIdentity } {
  return response.locals;
}
