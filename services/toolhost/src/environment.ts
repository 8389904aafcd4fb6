import { z } from 'zod';
import { controlPlaneEnvironment } from '@suzumio/runtime/process/service-environment';

const port = z.coerce.number().int().min(0).max(65_535);

/** The variables of the ToolHost. */
export const toolhostEnvironment = controlPlaneEnvironment.extend({
  /** Where workers reach it. */
  SUZUMIO_TOOLHOST_HOST: z.string().default('127.0.0.1'),
  SUZUMIO_TOOLHOST_WORKER_PORT: port.default(39_410),
  /** Where the calls of runners arrive, forwarded by their worker. */
  SUZUMIO_TOOLHOST_RUNNER_PORT: port.default(39_411),
  /** The secret that workers share, instead of the one that the data directory has. */
  SUZUMIO_WORKER_TOKEN: z.string().optional(),
  SUZUMIO_WORKER_TOKEN_FILE: z.string().optional(),
  /** What all projects together may spend on models in a day, in dollars. */
  SUZUMIO_BUDGET_USD_PER_DAY: z.coerce.number().nonnegative().optional(),
  SUZUMIO_LEASE_MS: z.coerce.number().int().min(3_000).max(600_000).default(15_000),
});
