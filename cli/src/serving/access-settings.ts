import { z } from 'zod';
import type { Environment } from '@suzumio/shared/config/environment';
import { listOf, parseEnvironment } from '@suzumio/shared/observability/service-environment';

/** Who may use the API that `up` and `serve` start, and by which names. */
export interface AccessSettings {
  auth: 'on' | 'off';
  allowedHosts: readonly string[];
}

const variables = z.object({
  SUZUMIO_AUTH: z.enum(['on', 'off']).default('on'),
  SUZUMIO_ALLOWED_HOSTS: listOf(',').default([]),
});

/** @throws SuzumioError `settings-invalid` */
export function accessSettings(environment: Environment): AccessSettings {
  const { SUZUMIO_AUTH: auth, SUZUMIO_ALLOWED_HOSTS: allowedHosts } = parseEnvironment(variables, environment);
  return { auth, allowedHosts };
}

/** What a person is told for as long as no token is asked for. */
export const openWarning =
  'WARNING: SUZUMIO_AUTH is off: everybody and every program on this machine may do everything, without a token.';
