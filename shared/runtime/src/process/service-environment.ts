import * as z from 'zod';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';

/** A list in one variable. */
export function listOf(separator: string) {
  return z.string().transform((text) =>
    text
      .split(separator)
      .map((item) => item.trim())
      .filter((item) => item !== ''),
  );
}

/** Variables that every service reads. Extend it with those of one service. */
export const serviceEnvironment = z.object({
  SUZUMIO_LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
  /** The port of `/metrics`, `/healthz` and `/readyz`. @default none */
  SUZUMIO_HEALTH_PORT: z.coerce.number().int().min(0).max(65_535).optional(),
  SUZUMIO_HEALTH_HOST: z.string().default('127.0.0.1'),
  /** Names that its listeners accept besides loopback's, separated by commas. */
  SUZUMIO_ALLOWED_HOSTS: listOf(',').default([]),
});

export type ServiceEnvironment = z.infer<typeof serviceEnvironment>;

/** The name of a cell. */
export const cellName = z
  .string({ error: 'needed: a name of this control plane, unlike any other on the same Redis or Docker engine' })
  .regex(/^[a-z0-9][a-z0-9-]{0,31}$/, { error: 'expected 1 to 32 of a-z, 0-9 and -' });

/** Variables of all services of a control plane, which open the same data directory. */
export const controlPlaneEnvironment = serviceEnvironment.extend({
  SUZUMIO_ROOT: z.string({ error: 'needed: the data directory' }),
  SUZUMIO_REDIS_URL: z.url({ protocol: /^rediss?$/, error: 'needed: redis://host:port' }),
  /** Labels jobs and containers: control planes that share a Redis or an engine must have different ones. */
  SUZUMIO_CELL: cellName,
  /** The policy for project files. @default `policy.yaml` in the data directory, if there is one */
  SUZUMIO_POLICY_FILE: z.string().optional(),
});

export type ControlPlaneEnvironment = z.infer<typeof controlPlaneEnvironment>;

/**
 * Reads a service's variables; empty ones count as not set.
 *
 * @throws SuzumioError `settings-invalid`, which names every invalid variable
 */
export function parseEnvironment<Environment>(
  schema: z.ZodType<Environment>,
  environment: Readonly<Record<string, string | undefined>>,
): Environment {
  const set = Object.fromEntries(
    Object.entries(environment).filter(([, value]) => value !== undefined && value !== ''),
  );
  const parsed = schema.safeParse(set);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`);
  throw new SuzumioError('settings-invalid', `The environment is not right: ${problems.join('; ')}.`);
}
