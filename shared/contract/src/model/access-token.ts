import * as z from 'zod';
import { parseDuration } from '@suzumio/protocol/duration';
import { agentId, projectId } from '@suzumio/protocol/ids';
import { apiScopes } from './api-scopes.js';

/**
 * A token's scope: the {@link apiScopes}; `worker` gives access to the ToolHost's listener for workers; `handler`, to
 * the turns of some external agents of one project there.
 */
export const tokenScopes = [...apiScopes, 'handler', 'worker'] as const;
export const tokenScope = z.enum(tokenScopes);
export type TokenScope = z.infer<typeof tokenScope>;

/**
 * The tokens that every cell has from the start: those in the files `admin.token` and `worker.token` of its data
 * directory.
 */
export const ownTokens = { admin: 'admin', worker: 'worker' } as const satisfies Record<string, TokenScope>;
export type OwnToken = keyof typeof ownTokens;

/** The prefix of every token's secret, by which it can be recognised anywhere. */
export const secretPrefix = 'szm_';

/** The actor of requests where no token is required. */
export const anonymousActor = 'anonymous';

/** Names that are reserved for other actors. */
const reservedNames: readonly string[] = [...Object.keys(ownTokens), anonymousActor, 'user', 'system'];

export const tokenName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9._@-]{0,62}$/, {
    error: 'expected 1 to 63 of a-z, 0-9 and ._@-, beginning with a letter or a digit',
  })
  .refine((name) => !reservedNames.includes(name), {
    error: `these names mean somebody else: ${reservedNames.join(', ')}`,
  })
  .describe("A token's name is the actor of what is done with it.");

/** The longest life of a token with an expiry. */
const maxLifeMs = 10 * 366 * 86_400_000;

export const tokenExpiry = z
  .string()
  .refine((text) => momentOf(text, 0) !== undefined, {
    error: 'expected a time such as 30d or 12h, or a moment such as 2030-01-31T12:00:00Z',
  })
  .describe('When a token ends: after a time such as `30d`, or at a moment, as ISO 8601.');

/** The moment of a {@link tokenExpiry}; undefined where that is not between `nowMs` and ten years later. */
export function expiresAtMs(expiry: string, nowMs: number): number | undefined {
  const atMs = momentOf(expiry, nowMs);
  return atMs !== undefined && atMs > nowMs && atMs <= nowMs + maxLifeMs ? atMs : undefined;
}

function momentOf(text: string, nowMs: number): number | undefined {
  const lifeMs = /^\d{1,9}(ms|s|m|h|d)$/.test(text) ? parseDuration(text) : undefined;
  if (lifeMs !== undefined) return nowMs + lifeMs;
  return z.iso.datetime({ offset: true }).safeParse(text).success ? Date.parse(text) : undefined;
}

export const tokenAgents = z.array(agentId).min(1).max(100).describe("The agents whose turns a handler's token opens.");

const time = z.iso.datetime();

/** A token without its secret, which its holder alone has. */
export const tokenView = z.object({
  name: z.string(),
  scope: tokenScope,
  project: projectId.nullable().describe('The one project that it opens; null where it opens all.'),
  agents: z.array(z.string()).nullable().describe("The agents whose turns it opens; null where it is no handler's."),
  state: z.enum(['good', 'expired', 'revoked']),
  createdAt: time,
  createdBy: z.string().describe('Whose token made it; `user` where it was made in the data directory itself.'),
  expiresAt: time.nullable(),
  revokedAt: time.nullable(),
  seenAt: time.nullable().describe('When it was last used, to within five minutes; null where it never was.'),
  sessions: z.int().describe('How many browsers are signed in as it: they are signed out when it ends.'),
  links: z.int().describe('How many links would still sign a browser in as it.'),
});
export type TokenView = z.infer<typeof tokenView>;

/** A refused request with a valid token. */
export const auditEntry = z.object({
  seq: z.int(),
  at: time,
  token: z.string().describe("The token's name."),
  method: z.string(),
  route: z.string().describe("The route's pattern: what stood in its place is not kept."),
  project: z.string().nullable(),
  code: z.string(),
});
export type AuditEntry = z.infer<typeof auditEntry>;
