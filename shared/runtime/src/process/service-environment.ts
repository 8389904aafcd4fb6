import { z } from 'zod';
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
  /** Where `/metrics`, `/healthz` and `/readyz` are answered; without it nowhere. */
  SUZUMIO_HEALTH_PORT: z.coerce.number().int().min(0).max(65_535).optional(),
  SUZUMIO_HEALTH_HOST: z.string().default('127.0.0.1'),
  /** Names, with commas between them, by which its listeners are reached besides those of loopback. */
  SUZUMIO_ALLOWED_HOSTS: listOf(',').default([]),
});

export type ServiceEnvironment = z.infer<typeof serviceEnvironment>;

/** The name of a cell. */
export const cellName = z
  .string({ error: 'needed: a name of this control plane, unlike any other on the same Redis or Docker engine' })
  .regex(/^[a-z0-9][a-z0-9-]{0,31}$/, { error: 'expected 1 to 32 of a-z, 0-9 and -' });

/** Variables that the services of a control plane share: they open the same data directory. */
export const controlPlaneEnvironment = serviceEnvironment.extend({
  SUZUMIO_ROOT: z.string({ error: 'needed: the data directory' }),
  SUZUMIO_REDIS_URL: z.url({ protocol: /^rediss?$/, error: 'needed: redis://host:port' }),
  /** Labels jobs and containers: no two control planes that share a Redis or an engine may have the same. */
  SUZUMIO_CELL: cellName,
  /** What project files may ask of a host; `policy.yaml` in the data directory, where there is one. */
  SUZUMIO_POLICY_FILE: z.string().optional(),
});

/**
 * Reads a service's variables; those that are empty count as not set.
 *
 * @throws SuzumioError `settings-invalid`, which names every variable that is wrong
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
