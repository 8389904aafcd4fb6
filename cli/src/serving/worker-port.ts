import type { Environment } from '@suzumio/core/config/environment';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';

/** Where handlers of external agents look for the ToolHost, as docs/handlers.md says. */
const usualPort = 39_410;

/**
 * The port at which handlers of external agents find the ToolHost. Where none is set and the usual one is in use, any free
 * one does: another server runs on this machine.
 *
 * @throws SuzumioError `settings-invalid`
 */
export function workerPortOf(environment: Environment): { port: number; orAnyFree: boolean } {
  const given = environment.SUZUMIO_TOOLHOST_WORKER_PORT;
  if (given === undefined || given === '') return { port: usualPort, orAnyFree: true };
  if (/^\d{1,5}$/.test(given) && Number(given) <= 65_535) return { port: Number(given), orAnyFree: false };
  throw new SuzumioError('settings-invalid', `SUZUMIO_TOOLHOST_WORKER_PORT is "${given}", not a port.`);
}
