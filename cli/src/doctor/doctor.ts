import { configDefaults } from '@suzumio/core/config/defaults';
import { paint } from '../render/colors.js';
import { type ExitCode, exitCodes } from '../exit-codes.js';
import { sayJson, say, sayNext, type Session } from '../session.js';
import { refuseOptions } from '../usage-error.js';
import type { Finding } from './check.js';
import { checkDataDirectory, checkFileSystem } from './check-data.js';
import { checkEngine } from './check-engine.js';
import { checkClock, checkDisk, checkInstallation, checkNode } from './check-machine.js';
import { checkPolicy } from './check-policy.js';
import { checkGit, checkPrograms, mayRunProcesses } from './check-programs.js';
import { checkProviders } from './check-providers.js';
import { checkProxy } from './check-proxy.js';
import { checkQueue } from './check-queue.js';
import { checkPort, checkServer, serverClock } from './check-server.js';
import { checkRepositories } from './check-repositories.js';
import { checkServerThere } from './check-server-there.js';
import { checkSystem } from './check-system.js';

/** Where a server of this machine is to listen. */
export interface DoctorOptions {
  readonly host?: string;
  readonly port?: number;
}

/** Checks the server that was asked for by name, else what Suzumio needs on this machine. */
export async function doctor(session: Session, options: DoctorOptions): Promise<ExitCode> {
  const { url } = session;
  if (url === undefined) return doctorHere(session, options);
  refuseOptions(
    { '--host': options.host !== undefined, '--port': options.port !== undefined },
    `say where a server of this machine is to listen, and the server is ${url}.`,
    'doctor',
  );
  say(session, `The server at ${url}:`);
  const findings = await checkServerThere(session, url);
  const whole = !findings.some(({ what, state }) => what === 'system' && state === 'skipped');
  return told(session, findings, {
    well: whole ? `All is well with the server at ${url}.` : `Nothing that this token may see of ${url} is broken.`,
    next: 'status',
  });
}

const { http } = configDefaults.observability;

async function doctorHere(session: Session, { host = http.host, port = http.port }: DoctorOptions): Promise<ExitCode> {
  const { root, context } = session;
  const server = await checkServer(session);
  const queue = await checkQueue(context.env.SUZUMIO_REDIS_URL);
  const clock = server.url === undefined ? undefined : await serverClock(server.url, context.now);
  const findings: Finding[] = [
    checkNode(process.version),
    checkInstallation(),
    checkDataDirectory(root),
    checkFileSystem(root),
    checkDisk(root),
    checkPolicy(session),
    server.finding,
    await checkPort(host, port, server.url),
    ...(await checkSystem(session)),
    ...(await checkEngine(root, { environment: context.env })),
    checkGit(),
    ...(await checkRepositories(session)),
    ...(mayRunProcesses(session) ? [checkPrograms()] : []),
    checkProxy(context.env),
    ...(await checkProviders(session, server.url !== undefined)),
    queue.finding,
    checkClock([clock, queue.clock].filter((one) => one !== undefined)),
  ];
  return told(session, findings, { well: 'All is well.', next: server.url === undefined ? 'serve' : 'status' });
}

/** @param well what is said where nothing is broken, and what may come `next` */
function told(
  session: Session,
  findings: readonly Finding[],
  { well, next }: { well: string; next: string },
): ExitCode {
  const faults = findings.filter(({ state }) => state === 'broken').length;
  sayJson(session, findings);
  say(session, ...findings.flatMap((finding) => rendered(finding, session)), '');
  if (faults > 0) {
    say(session, `${faults === 1 ? 'One thing is' : `${faults} things are`} broken; "next:" says what to do.`);
    return exitCodes.failed;
  }
  say(session, well);
  sayNext(session, next);
  return exitCodes.ok;
}

function rendered({ what, state, detail, remedy }: Finding, { context }: Session): string[] {
  const colors = paint(context.out);
  const mark = { ok: colors.green('ok     '), broken: colors.red('broken '), skipped: colors.dim('-      ') }[state];
  const line = `${mark}  ${what.padEnd(7)} ${detail}`;
  return remedy === undefined ? [line] : [line, `         ${' '.repeat(8)}next: ${remedy}`];
}
