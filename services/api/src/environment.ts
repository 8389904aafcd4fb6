import * as z from 'zod';
import { controlPlaneEnvironment, listOf } from '@suzumio/runtime/process/service-environment';
import type { ApiGuards } from './app.js';
import { defaultRateLimits } from './rate-limiter.js';

const rate = z.coerce.number().int().min(0).max(1_000_000);

/** Exactly what a browser sends as `Origin`. */
function requireOrigin(text: string, context: z.RefinementCtx): void {
  const problem = originProblem(text);
  if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
}

function originProblem(text: string): string | undefined {
  if (text.includes('*')) {
    return `"${text}" is refused: any page could ask people for their tokens and use them; name each origin, such as https://team.example`;
  }
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    return `"${text}" is no origin: expected one such as https://team.example or http://localhost:5173`;
  }
  return url.origin === text
    ? undefined
    : `"${text}" is more than an origin, or written otherwise: write ${url.origin}`;
}

/** The variables for access to the API and its rate limits. */
export const accessEnvironment = z.object({
  SUZUMIO_ALLOWED_HOSTS: listOf(',').default([]),
  /** The API's public address behind a proxy; may include a path. */
  SUZUMIO_PUBLIC_URL: z
    .url({ protocol: /^https?$/, error: 'expected an address, such as https://team.example/suzumio' })
    .refine((url) => !/[?#]/.test(url), { error: 'expected an address without ? and #' })
    .transform((url) => url.replace(/\/+$/, ''))
    .optional(),
  /** Origins of other pages that may use the API from a browser, separated by commas. */
  SUZUMIO_CORS_ORIGINS: listOf(',')
    .pipe(z.array(z.string().superRefine(requireOrigin)).max(20, { error: 'at most 20 origins' }))
    .default([]),
  /** `off` allows everything to everyone on this machine. */
  SUZUMIO_AUTH: z.enum(['on', 'off']).default('on'),
  /** Requests per second; 0 means no limit. */
  SUZUMIO_READS_PER_SECOND: rate.default(defaultRateLimits.readsPerSecond),
  SUZUMIO_WRITES_PER_SECOND: rate.default(defaultRateLimits.writesPerSecond),
  SUZUMIO_FAILURES_PER_SECOND: rate.default(defaultRateLimits.failuresPerSecond),
});

/** The variables of the API as a process of its own. */
export const apiEnvironment = controlPlaneEnvironment.extend({
  ...accessEnvironment.shape,
  SUZUMIO_HOST: z.string().default('127.0.0.1'),
  SUZUMIO_PORT: z.coerce.number().int().min(0).max(65_535).default(39_400),
  /** The ToolHosts' listeners for workers, separated by commas: running turns are followed there. */
  SUZUMIO_TOOLHOST_URLS: listOf(',')
    .pipe(z.array(z.url({ protocol: /^https?$/, error: 'expected addresses, such as http://toolhost:39410' })))
    .default(['http://127.0.0.1:39410']),
  /** The administrator's secret. @default the data directory's own */
  SUZUMIO_ADMIN_TOKEN: z.string().optional(),
  SUZUMIO_ADMIN_TOKEN_FILE: z.string().optional(),
  /** The budget of all projects for a day, in dollars: the ToolHost enforces it, `usage` shows it. */
  SUZUMIO_BUDGET_USD_PER_DAY: z.coerce.number().nonnegative().optional(),
});

/** The API's settings from these variables. */
export function accessOf(environment: z.output<typeof accessEnvironment>): Omit<ApiGuards, 'host'> {
  return {
    allowedHosts: [
      ...environment.SUZUMIO_ALLOWED_HOSTS,
      ...(environment.SUZUMIO_PUBLIC_URL === undefined ? [] : [new URL(environment.SUZUMIO_PUBLIC_URL).hostname]),
    ],
    allowedOrigins: environment.SUZUMIO_CORS_ORIGINS,
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
