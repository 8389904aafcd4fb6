import type { Request } from 'express';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { projectId } from '@suzumio/protocol/ids';
import type { ProjectStore } from '@suzumio/store/projects/project-store';
import type { ApiIdentity } from '@suzumio/store/cell/api-tokens';
import { authorizeLease, authorizeTool, rejected } from '@suzumio/store/turns/authorize';
import type { AttemptRow } from '@suzumio/store/rows';
import {
  type AttemptTokenClaims,
  type AttemptTokenKind,
  hashToken,
  parseAttemptToken,
  sameHash,
} from '@suzumio/store/turns/tokens';
import type { BodySender } from './bodies/body-gate.js';
import type { ToolhostContext } from './context.js';

/** The one route for a worker's credential; all others take an attempt's token. */
export const claimRoute = '/projects/:project/turns/:turn/claim';

/** An attempt's token as presented: its claims, and the hash that the store compares. */
export interface PresentedToken extends AttemptTokenClaims {
  tokenHash: string;
}

/** @throws SuzumioError `unauthenticated` when there is no bearer token */
function bearerToken(request: Request): string {
  const match = /^Bearer ([\x21-\x7e]{1,500})$/.exec(request.get('authorization') ?? '');
  if (match?.[1] === undefined) {
    throw new SuzumioError('unauthenticated', 'This needs a token, sent as "Authorization: Bearer TOKEN".');
  }
  return match[1];
}

/**
 * Reads an attempt's token from a request. The store decides whether it is valid.
 *
 * @throws SuzumioError `unauthenticated`, `token-rejected`
 */
export function attemptTokenOf(request: Request, kind: AttemptTokenKind, cell: string): PresentedToken {
  const token = bearerToken(request);
  const claims = parseAttemptToken(token);
  if (claims?.kind !== kind || claims.cell !== cell) throw rejected();
  return { ...claims, tokenHash: hashToken(token) };
}

/**
 * The tool token of a request, verified before any of the body is read.
 *
 * @throws SuzumioError `unauthenticated`, `token-rejected`
 */
export async function requireRunner({ cell }: ToolhostContext, request: Request): Promise<PresentedToken> {
  const token = attemptTokenOf(request, 'tool', cell.id);
  await cell.stores.use(token.project, ({ reader }) => authorizeTool(reader, token));
  return token;
}

/**
 * The name of the credential in a worker's request.
 *
 * @throws SuzumioError `unauthenticated`, `token-rejected` when it is none of a worker
 */
export async function requireWorker(context: ToolhostContext, request: Request, route: string): Promise<string> {
  return (await requireScope(context, request, 'worker', route)).name;
}

/**
 * The holder of a request's token, which must have this scope.
 *
 * @throws SuzumioError `unauthenticated`, `token-rejected`
 */
export async function requireScope(
  { cell: { catalog } }: ToolhostContext,
  request: Request,
  scope: 'worker' | 'handler',
  route: string,
): Promise<ApiIdentity> {
  const identity = catalog.tokens.identify(bearerToken(request));
  if (identity?.tokenId) catalog.tokens.seen(identity.tokenId);
  if (identity?.scope === scope) return identity;
  const error = rejected();
  if (identity) {
    const { method, params } = request;
    const project = projectId.safeParse(params['project']).data ?? null;
    await catalog.audit.add({ token: identity.name, method, route, project, code: error.code });
  }
  throw error;
}

/**
 * Runs `body` with the attempt of a request's lease token; the attempt may be over.
 *
 * @throws SuzumioError `unauthenticated`, `token-rejected`
 */
export async function withLease<Result>(
  context: ToolhostContext,
  request: Request,
  body: (store: ProjectStore, attempt: AttemptRow, token: PresentedToken) => Promise<Result>,
): Promise<Result> {
  const token = attemptTokenOf(request, 'lease', context.cell.id);
  const { project, turn, attempt } = request.params;
  if (project !== token.project || turn !== token.turn || attempt !== String(token.attempt)) throw rejected();
  return context.cell.stores.use(token.project, (store) => body(store, authorizeLease(store.reader, token), token));
}

/**
 * Requires the token with which services of the cell ask each other.
 *
 * @throws SuzumioError `unauthenticated`, `token-rejected`
 */
export function requireService({ serviceToken }: ToolhostContext, request: Request): void {
  if (!sameHash(hashToken(bearerToken(request)), hashToken(serviceToken))) throw rejected();
}

/** The sender by whom a request's body is counted. */
export function senderOf({
  project,
  turn,
  attempt,
}: Pick<AttemptTokenClaims, 'project' | 'turn' | 'attempt'>): BodySender {
  return { project, attempt: `${project} ${turn} ${String(attempt)}` };
}
