import { duration } from '@suzumio/protocol/duration';
import * as z from 'zod';

/** The longest wait that one request may ask for. */
const maxWaitMs = 60_000;

/** The longest that it is kept waiting: what stands in front of a server gives up after 60 s, as a rule. */
export const longestWaitMs = 50_000;

/** How long a request waits for what it asks for. */
export const waitTimeout = duration
  .pipe(z.int().max(maxWaitMs, { error: 'at most 60s' }))
  .default(30_000)
  .transform((ms) => Math.min(ms, longestWaitMs))
  .describe('The longest wait, with its unit, such as `30s` or `500ms`.');
