import { readFileSync } from 'node:fs';
import express, { type Router } from 'express';
import { z } from 'zod';
import type { HealthAnswer } from '@suzumio/contract/model/http-api';
import { openApiDocument } from './openapi/document.js';
import { descriptionPage } from './openapi/page.js';

/**
 * What the server says of itself to whoever asks, the only routes without a token: that it is there, and what its API is,
 * which holds nothing that is not in the repository.
 *
 * @param open whether all others need none either
 * @param publicUrl where the server is reached, without a slash at its end; by default where it is asked
 */
export function serviceRouter({ open, publicUrl }: { open: boolean; publicUrl?: string | undefined }): Router {
  const { version } = z
    .object({ version: z.string() })
    .parse(JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')));
  const health: HealthAnswer = { status: 'ok', version, access: open ? 'open' : 'tokens' };
  const described = openApiDocument(version);
  const description = publicUrl === undefined ? described : { ...described, servers: [{ url: publicUrl }] };
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
