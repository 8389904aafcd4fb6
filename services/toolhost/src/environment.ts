import * as z from 'zod';
import { controlPlaneEnvironment } from '@suzumio/runtime/process/service-environment';

const port = z.coerce.number().int().min(0).max(65_535);

/** The variables of the ToolHost. */
export const toolhostEnvironment = controlPlaneEnvironment.extend({
  /** The listener for workers. */
  SUZUMIO_TOOLHOST_HOST: z.string().default('127.0.0.1'),
  SUZUMIO_TOOLHOST_WORKER_PORT: port.default(39_410),
  /** The listener for runners' calls, which workers forward. */
  SUZUMIO_TOOLHOST_RUNNER_PORT: port.default(39_411),
  /** The secret that workers share. @default the data directory's */
  SUZUMIO_WORKER_TOKEN: z.string().optional(),
  SUZUMIO_WORKER_TOKEN_FILE: z.string().optional(),
  /** The budget of all projects for a day, in dollars. */
  SUZUMIO_BUDGET_USD_PER_DAY: z.coerce.number().nonnegative().optional(),
  SUZUMIO_LEASE_MS: z.coerce.number().int().min(3_000).max(600_000).default(15_000),
});
