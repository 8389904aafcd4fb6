import { setTimeout as sleep } from 'node:timers/promises';
import { Option } from 'commander';
import { configDefaults } from '@suzumio/shared/config/defaults';
import { checkDocker } from '@suzumio/turn-worker';
import { type Stack, startStack, type StackOptions } from '../stack.js';
import { printJson, say, sayNext, type Session } from '../session.js';
import type { Register } from './action.js';
import { parsePort } from './arguments.js';

const { host, port } = configDefaults.observability.http;

export const registerServe: Register = (program, action) => {
  program
    .command('serve')
    .description('run all services in this process, until Ctrl-C')
    .option('--host <host>', 'the address that the API listens on', host)
    .option('--port <port>', 'its port; 0 takes any free one', parsePort, port)
    .option('--no-scheduler', 'start no turns: another process does')
    .addOption(processOption())
    .action(action(serve));
};

/** Operators allow what a project file alone may not ask for. */
export function processOption(): Option {
  return new Option(
    '--allow-process',
    'let projects run turns as processes of this machine, without any isolation',
  ).default(false);
}

interface ServeOptions {
  host: string;
  port: number;
  scheduler: boolean;
  allowProcess: boolean;
}

async function serve(session: Session, { allowProcess, ...options }: ServeOptions): Promise<undefined> {
  const stack = await startStack({
    ...options,
    root: session.root,
    backends: allowProcess ? ['docker', 'process'] : ['docker'],
  });
  try {
    if (session.json) printJson(session, { url: stack.url, root: session.root });
    else {
      await sayServing(session, stack);
      sayNext(session, 'init FILE', 'status', 'doctor');
    }
    await interruption(session.context.interrupted);
    sayStopping(session);
  } finally {
    await stack.stop();
  }
  return undefined;
}

/** Where things are, and whether turns can run. */
export async function sayServing(session: Session, stack: Stack): Promise<void> {
  say(session, `Suzumio listens on ${stack.url}   (Ctrl-C stops it)`);
  say(session, `data:  ${session.root}`);
  say(session, `token: ${stack.cell.directory.adminTokenFile}`);
  say(session, `log:   ${stack.logFile}`);
  if (!stack.ready) await sayNotReady(session);
}

async function sayNotReady(session: Session): Promise<void> {
  const { problem } = await checkDocker({ image: configDefaults.backend.image });
  say(
    session,
    `No turns can run yet: ${problem?.message ?? 'containers cannot be started'} They begin when that is mended.`,
  );
  sayNext(session, 'doctor');
}

export function sayStopping(session: Session): void {
  if (!session.json)
    say(session, 'Stopping: turns that run have 20 s to end. Ctrl-C again ends them now; nothing is lost either way.');
}

export async function interruption(signal: AbortSignal): Promise<void> {
  while (!signal.aborted) await sleep(2 ** 30, undefined, { signal }).catch(() => undefined);
}

export type { StackOptions };
