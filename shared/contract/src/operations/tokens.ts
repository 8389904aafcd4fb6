import { projectId } from '@suzumio/protocol/ids';
import * as z from 'zod';
import { auditEntry, tokenAgents, tokenExpiry, tokenName, tokenScope, tokenView } from '../model/access-token.js';
import { json, resource } from './operation.js';
import { listOf, noQuery, pageQuery, request } from './request.js';

export const createTokenRequest = request({
  name: tokenName,
  scope: tokenScope,
  project: projectId.optional().describe('The one project that it opens; without it all of them.'),
  agents: tokenAgents.optional().describe("The agents whose turns a handler's token opens; for no other scope."),
  expires: tokenExpiry
    .optional()
    .describe('After which time, such as `30d`, or at which moment it ends; without it never.'),
});

export const tokenAnswer = z.object({ token: tokenView });
export type TokenAnswer = z.infer<typeof tokenAnswer>;

/** The only time that the secret is shown. */
export const createdTokenAnswer = tokenAnswer.extend({ secret: z.string() });

export const tokenListAnswer = z.object({ items: z.array(tokenView) });

export const auditAnswer = listOf(auditEntry);

/** Who may use the cell: for administrators. */
export const tokens = resource('Access', {
  listTokens: {
    method: 'get',
    path: '/api/tokens',
    wholeCell: true,
    scope: 'admin',
    summary: 'Every token that there is or was, without its secret, oldest first.',
    query: noQuery,
    answers: { 200: { description: 'The tokens.', content: json(tokenListAnswer) } },
  },
  createToken: {
    method: 'post',
    path: '/api/tokens',
    wholeCell: true,
    scope: 'admin',
    summary: 'Makes a token. Its secret is in the answer and nowhere else.',
    description:
      'Only a hash of the secret is stored: a secret that is lost is replaced by another token. It takes no `Idempotency-Key`, since the secret is not kept for a second answer.',
    body: createTokenRequest,
    repeatable: false,
    answers: { 201: { description: 'The token and its secret.', content: json(createdTokenAnswer) } },
    refusals: ['token-exists', 'project-unknown'],
  },
  revokeToken: {
    method: 'delete',
    path: '/api/tokens/:token',
    wholeCell: true,
    scope: 'admin',
    summary: 'Takes a token back, at once and for ever.',
    description: 'Requests and streams that it opened are refused from then on. Its name is free for another token.',
    query: noQuery,
    answers: { 200: { description: 'It is revoked.', content: json(tokenAnswer) } },
    refusals: ['token-unknown'],
  },
  listAudit: {
    method: 'get',
    path: '/api/audit',
    wholeCell: true,
    scope: 'admin',
    summary: 'Requests that came with a good token and were refused all the same: the newest ten thousand are kept.',
    description: "With the token's name, the route's pattern and the code, and nothing of what was sent.",
    query: pageQuery,
    answers: { 200: { description: 'A part of the list.', content: json(auditAnswer) } },
  },
});
