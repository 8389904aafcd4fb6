import { setTimeout as sleep } from 'node:timers/promises';
import { configDefaults } from '@suzumio/core/config/defaults';
import { checkDocker } from '@suzumio/turn-worker';
import { isSuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { hostPolicy } from '../host-policy.js';
import { createApiClient } from '../reach/api-client.js';
import { openWarning } from '../render/open-warning.js';
import { accessFor } from './access.js';
import { type Stack, startStack } from './stack.js';
import { sayJson, say, sayNext, type Session } from '../session.js';

export interface ServeOptions {
  host: string;
  port: number;
  metricsPort?: number;
  scheduler: boolean;
  allowProcess: boolean;
}

/** Serves until the person wants an end. */
export async function serve(session: Session, { allowProcess, ...options }: ServeOptions): Promise<undefined> {
  const stack = await startStack({
    ...options,
    root: session.root,
    policy: hostPolicy(session, { allowProcess }),
    access: accessFor(session),
    environment: session.context.env,
  });
  try {
    sayJson(session, { url: stack.url, root: session.root }, 'line');
    await sayServing(session, stack, ['init FILE', 'status', 'doctor']);
    await interruption(untilEnd(session, stack));
    stack.failed.throwIfAborted();
    sayStopping(session, stack);
  } finally {
    await stack.stop();
  }
  return undefined;
}

/**
 * The page's address. On a terminal it signs a browser in, once; what else reads the output may keep it. Where nobody can
 * sign in, why not.
 */
export async function pageOf({ context, suzumio }: Session, { url, cell, open }: Stack): Promise<string> {
  if (!context.out.isTerminal && !open) return `${url}   (${suzumio} open signs you in)`;
  try {
    const link = await createApiClient({ url, token: cell.directory.adminToken() }).createSignInLink({ body: {} });
    return link.expiresAt === null ? link.url : `${link.url}   (signs you in, once, within ten minutes)`;
  } catch (error) {
    if (isSuzumioError(error)) return error.message;
    throw error;
  }
}

/** Where things are, whether turns can run, and what may come next. */
export async function sayServing(session: Session, stack: Stack, next: string[]): Promise<void> {
  say(session, `Suzumio listens on ${stack.url}   (Ctrl-C stops it)`);
  say(session, `page:    ${await pageOf(session, stack)}`);
  say(session, `handler: ${stack.handlersUrl}   (SUZUMIO_TOOLHOST_URL of a handler of your own)`);
  say(session, `data:    ${session.root}`);
  say(session, `token:   ${stack.cell.directory.adminTokenFile}`);
  say(session, `log:     ${stack.logFile}`);
  if (stack.metricsUrl !== undefined) say(session, `metrics: ${stack.metricsUrl}`);
  const { env, err } = session.context;
  if (stack.open) err.write(`${openWarning}\n`);
  if (env.SUZUMIO_REDIS_URL) err.write('SUZUMIO_REDIS_URL is set, and is not used: up and serve do without Redis.\n');
  if (stack.ready) sayNext(session, ...next);
  else {
    const { problem, remedy } = await checkDocker({ image: configDefaults.backend.image, environment: env });
    const mend = remedy === undefined ? '' : ` What mends it: ${remedy}.`;
    const why = `${problem?.message ?? 'Containers cannot be started.'}${mend}`;
    say(session, `No turns can run yet: ${why} They begin when that is mended.`);
    sayNext(session, 'doctor', ...next.filter((command) => command !== 'doctor'));
  }
}

export function sayStopping(session: Session, stack: Stack): void {
  endTurnsOnInsistence(session, stack);
  say(session, 'Stopping: turns that run have 20 s to end. Ctrl-C again ends them now; nothing is lost either way.');
}

/** A second Ctrl-C ends the turns that run, and leaves no container behind; a third one ends this process. */
export function endTurnsOnInsistence(session: Session, stack: Stack): void {
  session.context.onInsistence?.(() => {
    say(session, 'Ending them now. They go on after the next start.');
    stack.endTurns();
  });
}

/** When a person wants an end, or the services cannot go on. */
export function untilEnd({ context }: Session, { failed }: Stack): AbortSignal {
  return AbortSignal.any([context.interrupted, failed]);
}

export async function interruption(signal: AbortSignal): Promise<void> {
  while (!signal.aborted) await sleep(2 ** 30, undefined, { signal }).catch(() => undefined);
}
