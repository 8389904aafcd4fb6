import { z } from 'zod';
import { controlPlaneEnvironment, listOf } from '@suzumio/runtime/process/service-environment';
import type { ApiGuards } from './app.js';
import { defaultRateLimits } from './rate-limiter.js';

const rate = z.coerce.number().int().min(0).max(1_000_000);

/** The variables that say who may use the API, and how much. */
export const accessEnvironment = z.object({
  SUZUMIO_ALLOWED_HOSTS: listOf(',').default([]),
  /** Where people and programs reach the API, where a proxy stands before it: its name, and perhaps a path. */
  SUZUMIO_PUBLIC_URL: z
    .url({ protocol: /^https?$/, error: 'expected an address, such as https://team.example/suzumio' })
    .refine((url) => !/[?#]/.test(url), { error: 'expected an address without ? and #' })
    .transform((url) => url.replace(/\/+$/, ''))
    .optional(),
  /** `off` lets everybody on this machine do everything. */
  SUZUMIO_AUTH: z.enum(['on', 'off']).default('on'),
  /** Requests a second that are answered; 0 sets no bound. */
  SUZUMIO_READS_PER_SECOND: rate.default(defaultRateLimits.readsPerSecond),
  SUZUMIO_WRITES_PER_SECOND: rate.default(defaultRateLimits.writesPerSecond),
  SUZUMIO_FAILURES_PER_SECOND: rate.default(defaultRateLimits.failuresPerSecond),
});

/** The variables of the API as a process of its own. */
export const apiEnvironment = controlPlaneEnvironment.extend({
  ...accessEnvironment.shape,
  SUZUMIO_HOST: z.string().default('127.0.0.1'),
  SUZUMIO_PORT: z.coerce.number().int().min(0).max(65_535).default(39_400),
  /** The administrator's secret, instead of the one that the data directory has. */
  SUZUMIO_ADMIN_TOKEN: z.string().optional(),
  SUZUMIO_ADMIN_TOKEN_FILE: z.string().optional(),
  /** What all projects together may spend on models in a day, in dollars: the ToolHost keeps to it, `usage` shows it. */
  SUZUMIO_BUDGET_USD_PER_DAY: z.coerce.number().nonnegative().optional(),
});

/** What the API is told of it. */
export function accessOf(environment: z.output<typeof accessEnvironment>): Omit<ApiGuards, 'host'> {
  return {
    allowedHosts: [
      ...environment.SUZUMIO_ALLOWED_HOSTS,
      ...(environment.SUZUMIO_PUBLIC_URL === undefined ? [] : [new URL(environment.SUZUMIO_PUBLIC_URL).hostname]),
    ],
    publicUrl: environment.SUZUMIO_PUBLIC_URL,
    auth: environment.SUZUMIO_AUTH,
    rateLimits: {
      ...defaultRateLimits,
      readsPerSecond: environment.SUZUMIO_READS_PER_SECOND,
      writesPerSecond: environment.SUZUMIO_WRITES_PER_SECOND,
      failuresPerSecond: environment.SUZUMIO_FAILURES_PER_SECOND,
    },
  };
}
