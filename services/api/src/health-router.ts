import { readFileSync } from 'node:fs';
import express, { type Router } from 'express';
import { z } from 'zod';
import type { HealthAnswer } from '@suzumio/shared/model/http-api';

/** Whether anybody is there, for whoever asks: the one route without a token. */
export function healthRouter(): Router {
  const { version } = z
    .object({ version: z.string() })
    .parse(JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')));
  const answer: HealthAnswer = { status: 'ok', version };
  const router = express.Router();
  router.get('/health', (_request, response) => {
    response.json(answer);
  });
  return router;
}
