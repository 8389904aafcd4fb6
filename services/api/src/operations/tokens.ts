import type { tokens } from '@suzumio/contract/operations/tokens';
import { refuseKey } from '../commit-once.js';
import type { Runs } from '../routes.js';

export const tokenRuns: Runs<typeof tokens> = {
  listTokens: ({ context: { cell } }) => ({ items: cell.catalog.tokens.list() }),

  async createToken({ context: { cell, logger }, request, actor, body: token }) {
    refuseKey(request, 'A secret is shown once');
    const created = await cell.catalog.tokens.create({ ...token, actor });
    await cell.catalog.audit.note('token.created', { actor, subject: token.name });
    logger.info({ actor, name: token.name, scope: token.scope, project: token.project }, 'a token was made');
    return created;
  },

  async revokeToken({ context: { cell, logger }, actor, params }) {
    const token = await cell.catalog.tokens.revoke(params.token);
    await cell.catalog.audit.note('token.revoked', { actor, subject: token.name });
    logger.info({ actor, name: token.name }, 'a token was revoked');
    return { token };
  },

  listAudit: ({ context: { cell }, query }) => cell.catalog.audit.list(query),
};
