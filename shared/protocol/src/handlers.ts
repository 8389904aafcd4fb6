import * as z from 'zod';
import { attachment } from './artifacts.js';
import { agentId, priority, projectId, turnId } from './ids.js';

/**
 * The ToolHost's routes for handlers, which run the turns of external agents, on its listener for workers:
 *
 * | route | authorised by | |---|---| | `GET /handlers/self` | a token of the scope `handler` | | `POST
 * /projects/:project/handlers/claim` | a token of the scope `handler` | | `DELETE
 * /projects/:project/handlers/claims/:claimId` | a token of the scope `handler` | | `POST
 * /projects/:project/turns/:turn/attempts/:attempt/heartbeat`, `…/complete`, `…/fail` | the lease token | | `POST
 * /tool`, `GET`, `HEAD`, `PUT /content/:sha256` | the tool token |
 */
export const handlersProtocol = 1;

/** The engine's name in attempts of external agents. */
export const externalEngine = 'external';

/** The longest wait of one request for a turn. */
export const maxWaitMs = 30_000;

/** The project and agents of a handler's token. */
export const handlerSelf = z.object({
  protocol: z.int(),
  project: projectId,
  agents: z.array(agentId),
});
export type HandlerSelf = z.infer<typeof handlerSelf>;

/** A handler's claim of a turn of one of its agents. The same `claimId` always gets the same turn. */
export const handlerClaimRequest = z.strictObject({
  claimId: z.string().regex(/^[0-9a-f]{32}$/, { error: 'expected 32 hex digits' }),
  /** The process's name in attempts and events. */
  handler: z.string().regex(/^[\w.@:-]{1,100}$/, { error: 'expected 1 to 100 letters, digits and ._@:-' }),
  protocol: z.int(),
  /** Only turns of these agents. @default all of the token's */
  agents: z.array(agentId).min(1).max(100).optional(),
  /** Only turns of agents in this team. */
  team: z.string().min(1).max(120).optional(),
  /** How long to wait for a queued turn. */
  waitMs: z.int().min(0).max(maxWaitMs).default(0),
  /** The most messages in the turn's prompt, within the project's own limit. */
  batch: z.int().min(1).max(1000).optional(),
});

/** A message that a turn is about, in full. */
export const handlerMail = z.object({
  id: z.string(),
  kind: z.string(),
  sender: z.string(),
  recipient: z.string().nullable(),
  channel: z.string().nullable(),
  threadId: z.string(),
  replyTo: z.string().nullable(),
  priority,
  body: z.string(),
  attachments: z.array(attachment),
  createdAt: z.iso.datetime(),
});
export type HandlerMail = z.infer<typeof handlerMail>;

/** A turn that was given to a handler. */
export const handlerTurn = z.object({
  project: projectId,
  agent: z.object({
    id: agentId,
    role: z.string(),
    prompt: z.string(),
    displayName: z.string().nullable(),
    model: z.string().nullable(),
  }),
  id: turnId,
  number: z.int().positive(),
  attempt: z.int().positive(),
  /** The prompt, as for an agent in a container: task, team, mail. */
  prompt: z.string(),
  mail: z.array(handlerMail).min(1),
  /** The tools that the agent may use. */
  tools: z.array(z.string()),
  leaseToken: z.string(),
  toolToken: z.string(),
  leaseMs: z.int().positive(),
  timeoutMs: z.int().positive(),
});
export type HandlerTurn = z.infer<typeof handlerTurn>;

/** The turn, or null where none was queued in time. */
export const handlerClaimAnswer = z.object({ turn: handlerTurn.nullable() });
export type HandlerClaimAnswer = z.infer<typeof handlerClaimAnswer>;
