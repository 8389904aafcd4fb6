import type { Request } from 'express';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { TokenScope } from '@suzumio/contract/model/access-token';
import { includesScope } from '@suzumio/contract/model/api-scopes';
import type { signIn } from '@suzumio/contract/operations/sign-in';
import type { ApiIdentity, ApiTokens } from '@suzumio/store/cell/api-tokens';
import type { SessionsOf } from '@suzumio/store/cell/sessions';
import { type BrowserPlace, browserPlace, isOwnPage, isPrivate, publicPlace } from '../browser-place.js';
import { refuseKey } from '../commit-once.js';
import type { RateLimiter } from '../rate-limiter.js';
import type { Runs } from '../routes.js';
import { dropSession, keepSession } from '../session-cookie.js';

interface SignInOptions {
  /** Whether the server asks nobody for a token. */
  open: boolean;
  publicUrl: string | undefined;
  /** Limits how often an address may show a code that signs nobody in. */
  failures: RateLimiter;
}

/** How people sign in to the page, and the browsers that are signed in. */
export function signInRuns({ open, publicUrl, failures }: SignInOptions): Runs<typeof signIn> {
  const placeOf = (request: Request) => privatePlace(browserPlace(request.headers, publicUrl));
  return {
    async createSignInLink({ context: { cell }, request, identity, body: { path = '/', token } }) {
      refuseKey(request, 'A link is shown once');
      const place = privatePlace(publicPlace(publicUrl) ?? browserPlace(request.headers, publicUrl));
      const base = `${place.origin}${place.path}`;
      const tokenId = token === undefined ? identity.tokenId : tokenToSignIn(cell.catalog.tokens, identity, token);
      if (tokenId === null) return { url: `${base}${path}`, expiresAt: null };
      const { code, expiresAt } = await cell.catalog.sessions.createLink(tokenId);
      if (token !== undefined && tokenId !== identity.tokenId) {
        await cell.catalog.audit.note('token.link-made', { actor: identity.name, subject: token });
      }
      const to = path === '/' ? '' : `?to=${encodeURIComponent(path)}`;
      return { url: `${base}/sign-in${to}#${code}`, expiresAt };
    },

    async createSession({ context: { cell, logger }, request, response, body: { code } }) {
      refuseKey(request, "A session's secret is sent once");
      const place = placeOf(request);
      if (!isOwnPage(request.method, request.headers, place)) {
        throw new SuzumioError('foreign-origin', `Only pages of ${place.origin} may sign in here.`);
      }
      const address = request.socket.remoteAddress ?? '';
      try {
        const from = { address, agent: request.get('user-agent') ?? '' };
        const { session, secret } = await cell.catalog.sessions.open(code, from);
        keepSession(response, place, secret, session);
        logger.info({ actor: session.token, session: session.id }, 'a browser signed in');
        return { session };
      } catch (error) {
        await failures.count(address);
        throw error;
      }
    },

    getSession({ context: { cell }, identity }) {
      const { name, scope, project, tokenId, sessionId } = identity;
      const [session = null] =
        tokenId === null || sessionId === null
          ? []
          : cell.catalog.sessions.list({ tokenId }, sessionId).filter(({ current }) => current);
      return { name, scope, project, access: open ? 'open' : 'tokens', session };
    },

    async signOut({ context: { cell }, request, response, identity: { tokenId, sessionId } }) {
      if (tokenId === null || sessionId === null) {
        throw new SuzumioError(
          'session-unknown',
          'This request comes from no session: it shows a token, or needs none.',
        );
      }
      const session = await cell.catalog.sessions.end(sessionId, { tokenId }, sessionId);
      dropSession(response, placeOf(request));
      return { session };
    },

    listSessions: ({ context: { cell }, identity }) => ({
      items: cell.catalog.sessions.list(sessionsOf(identity), identity.sessionId),
    }),

    async endSession({ context: { cell, logger }, identity, actor, params }) {
      const session = await cell.catalog.sessions.end(params.session, sessionsOf(identity), identity.sessionId);
      logger.info({ actor, token: session.token, session: session.id }, 'a browser was signed out');
      return { session };
    },

    async endSessions({ context: { cell, logger }, request, response, identity, actor, query: { token, others } }) {
      const { id } = ownOrAnothers(cell.catalog.tokens, identity, token);
      const items = await cell.catalog.sessions.endAll(id, identity.sessionId, others ? identity.sessionId : null);
      if (items.some(({ current }) => current)) dropSession(response, placeOf(request));
      logger.info({ actor, token, sessions: items.length }, 'the browsers of a token were signed out');
      return { items };
    },
  };
}

/**
 * A token that somebody may sign browsers in and out of: the own one, or for administrators of the cell any other.
 *
 * @throws SuzumioError `forbidden`, `token-unknown`
 */
function ownOrAnothers(tokens: ApiTokens, identity: ApiIdentity, name: string): { id: string; scope: TokenScope } {
  const { tokenId, scope } = identity;
  if (tokenId !== null && name === identity.name) return { id: tokenId, scope };
  if (sessionsOf(identity) === 'everybody') return tokens.good(name);
  throw new SuzumioError(
    'forbidden',
    `The token "${identity.name}" is only about itself: for "${name}" it takes the scope admin and the whole cell.`,
  );
}

/** @throws SuzumioError `forbidden`, `token-unknown`; `invalid-request` where that token opens nothing of the page */
function tokenToSignIn(tokens: ApiTokens, identity: ApiIdentity, name: string): string {
  const { id, scope } = ownOrAnothers(tokens, identity, name);
  if (includesScope(scope, 'read')) return id;
  throw new SuzumioError(
    'invalid-request',
    `The token "${name}" has the scope ${scope}, which opens nothing of the page.`,
  );
}

/** Administrators of the cell see every session; others see those of their own token. */
function sessionsOf({ tokenId, scope, project }: ApiIdentity): SessionsOf {
  return tokenId === null || (scope === 'admin' && project === null) ? 'everybody' : { tokenId };
}

/** @throws SuzumioError `sign-in-insecure` */
function privatePlace(place: BrowserPlace | undefined): BrowserPlace {
  if (place && isPrivate(place)) return place;
  throw new SuzumioError(
    'sign-in-insecure',
    'Sign-in needs HTTPS, or a browser on the same machine: put a proxy with TLS in front, and set SUZUMIO_PUBLIC_URL to its address.',
  );
}
