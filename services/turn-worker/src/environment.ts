import { isAbsolute } from 'node:path';
import * as z from 'zod';
import { messageOf, SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { shortestSecret } from '@suzumio/runtime/observability/redactor';
import { cellName, serviceEnvironment } from '@suzumio/runtime/process/service-environment';
import { type CellConfig, cellConfig, portRange, type RelayConfig, userIds } from './config.js';

const url = z.url({ protocol: /^https?$/, error: 'expected http://host:port' });

/** Cells as JSON: `{"east": {"toolhostUrl": …, "runnerUrl": …, "credential": …}}`. */
const cellsJson = z
  .string()
  .transform((text, context) => {
    try {
      return JSON.parse(text) as unknown;
    } catch (error) {
      context.addIssue({ code: 'custom', message: `not JSON: ${messageOf(error)}` });
      return z.NEVER;
    }
  })
  .pipe(z.record(z.string(), cellConfig));

/** `39500-39599`, or one port. */
const ports = z
  .string()
  .regex(/^\d{1,5}(-\d{1,5})?$/, { error: 'expected ports such as 39500-39599' })
  .transform((text) => {
    const [first = 0, last = first] = text.split('-').map(Number);
    return { first, last };
  })
  .pipe(portRange);

/** Absolute paths, with commas between them. */
const paths = z
  .string()
  .transform((text) => text.split(',').map((path) => path.trim()))
  .pipe(z.array(z.string().refine(isAbsolute, { error: 'expected absolute paths, with commas between them' })));

/** The variables of a turn-worker. One cell has variables of its own, several are set by `SUZUMIO_CELLS`. */
export const workerEnvironment = serviceEnvironment.extend({
  SUZUMIO_REDIS_URL: z.url({ protocol: /^rediss?$/, error: 'needed: redis://host:port' }),
  SUZUMIO_WORKER_DIR: z.string({ error: 'needed: an absolute path, the same for this worker and its engine' }),
  SUZUMIO_WORKER_DIR_SHARED: z.stringbool().default(false),
  SUZUMIO_WORKER_SLOTS: z.coerce.number().int().min(1).max(1_000).default(4),
  SUZUMIO_TURN_USER: userIds.optional(),
  SUZUMIO_DOOR: z.enum(['auto', 'socket', 'stdio']).default('auto'),
  SUZUMIO_POLICY_FILE: z.string().optional(),
  SUZUMIO_PROTECTED_PATHS: paths.default([]),
  SUZUMIO_RELAY_HOST: z.ipv4({ error: 'expected an address of this worker, such as 0.0.0.0' }).optional(),
  SUZUMIO_RELAY_PORTS: ports.optional(),
  SUZUMIO_RUNNER_IMAGE: z.string().default('suzumio-runner:dev'),
  SUZUMIO_DOCKER_SOCKET: z.string().optional(),
  SUZUMIO_CELLS: cellsJson.optional(),
  SUZUMIO_CELL: cellName,
  SUZUMIO_TOOLHOST_URL: url.default('http://127.0.0.1:39410'),
  SUZUMIO_TOOLHOST_RUNNER_URL: url.default('http://127.0.0.1:39411'),
  SUZUMIO_WORKER_TOKEN: z.string().optional(),
  SUZUMIO_WORKER_TOKEN_FILE: z.string().optional(),
});

/**
 * Each cell's addresses, and this worker's credential there.
 *
 * @throws SuzumioError `settings-invalid`
 */
export function workerCells(
  environment: z.output<typeof workerEnvironment>,
  readFile: (file: string) => string,
): Record<string, CellConfig> {
  if (environment.SUZUMIO_CELLS !== undefined) return environment.SUZUMIO_CELLS;
  return {
    [environment.SUZUMIO_CELL]: {
      toolhostUrl: environment.SUZUMIO_TOOLHOST_URL,
      runnerUrl: environment.SUZUMIO_TOOLHOST_RUNNER_URL,
      credential: credentialOf(environment, readFile),
    },
  };
}

/** A cell's present credential: its file may have changed since the start. */
export function currentCredential(
  environment: z.output<typeof workerEnvironment>,
  cell: string,
  readFile: (file: string) => string,
): string | undefined {
  try {
    const credential = workerCells(environment, readFile)[cell]?.credential;
    // While the file is being written, the known credential stays.
    return credential !== undefined && credential.length >= shortestSecret ? credential : undefined;
  } catch {
    return undefined;
  }
}

/** The relays' settings, as far as they are set. */
export function relayOf({
  SUZUMIO_RELAY_HOST: host,
  SUZUMIO_RELAY_PORTS: ports,
}: z.output<typeof workerEnvironment>): RelayConfig {
  return { ...(host === undefined ? {} : { host }), ...(ports === undefined ? {} : { ports }) };
}

function credentialOf(
  { SUZUMIO_WORKER_TOKEN: token, SUZUMIO_WORKER_TOKEN_FILE: file }: z.output<typeof workerEnvironment>,
  readFile: (file: string) => string,
): string {
  if (token !== undefined) return token;
  if (file === undefined) {
    throw new SuzumioError(
      'settings-invalid',
      "The worker needs the ToolHost's credential: set SUZUMIO_WORKER_TOKEN_FILE to the worker.token of the data directory, or SUZUMIO_WORKER_TOKEN.",
    );
  }
  try {
    return readFile(file).trim();
  } catch (error) {
    throw new SuzumioError(
      'settings-invalid',
      `SUZUMIO_WORKER_TOKEN_FILE cannot be read: ${messageOf(error)}.`,
      {},
      { cause: error },
    );
  }
}
