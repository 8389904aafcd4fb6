import { readFileSync } from 'node:fs';
import express, { type Router } from 'express';
import { z } from 'zod';
import type { HealthAnswer } from '@suzumio/shared/model/http-api';
import { openApiDocument } from './openapi/document.js';
import { descriptionPage } from './openapi/page.js';

/**
 * What the server says of itself to whoever asks, the only routes without a token: that it is there, and what its API is,
 * which holds nothing that is not in the repository.
 *
 * @param open whether all others need none either
 */
export function serviceRouter({ open }: { open: boolean }): Router {
  const { version } = z
    .object({ version: z.string() })
    .parse(JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')));
  const health: HealthAnswer = { status: 'ok', version, access: open ? 'open' : 'tokens' };
  const description = openApiDocument(version);
  const page = descriptionPage(description);
  const router = express.Router();

  router.get('/health', (_request, response) => {
    response.json(health);
  });

  router.get('/openapi.json', (_request, response) => {
    response.json(description);
  });

  router.get('/docs', (_request, response) => {
    response
      .set('content-security-policy', page.contentSecurityPolicy)
      .type('text/html; charset=utf-8')
      .send(page.html);
  });
  return router;
}
