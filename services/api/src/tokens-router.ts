import express, { type Router } from 'express';
import {
  type AuditAnswer,
  createTokenRequest,
  type CreatedTokenAnswer,
  noQuery,
  pageQuery,
  type TokenAnswer,
  type TokenListAnswer,
} from '@suzumio/contract/model/http-api';
import { identityOf, requireAdmin } from './auth.js';
import { bodyOf, queryOf } from './body.js';
import { refuseKey } from './commit-once.js';
import type { ApiContext } from './context.js';
import { listAnswer } from './list-answer.js';

/** Who may use the cell, and what those who may tried beyond that: for administrators of the whole cell. */
export function tokensRouter({ cell: { catalog }, logger }: ApiContext): Router {
  const router = express.Router();
  router.use(['/api/tokens', '/api/audit'], requireAdmin);

  router.get('/api/tokens', (request, response) => {
    queryOf(request, noQuery);
    response.json({ items: catalog.tokens.list() } satisfies TokenListAnswer);
  });

  router.post('/api/tokens', async (request, response) => {
    const token = bodyOf(request, createTokenRequest);
    refuseKey(request, 'A secret is shown once');
    const actor = identityOf(response).name;
    const created: CreatedTokenAnswer = await catalog.tokens.create({ ...token, actor });
    logger.info({ actor, name: token.name, scope: token.scope, project: token.project }, 'a token was made');
    response.status(201).json(created);
  });

  router.delete('/api/tokens/:token', async (request, response) => {
    queryOf(request, noQuery);
    const token = await catalog.tokens.revoke(request.params.token);
    logger.info({ actor: identityOf(response).name, name: token.name }, 'a token was revoked');
    response.json({ token } satisfies TokenAnswer);
  });

  router.get('/api/audit', (request, response) => {
    response.json(listAnswer(catalog.audit.list(queryOf(request, pageQuery))) satisfies AuditAnswer);
  });
  return router;
}
