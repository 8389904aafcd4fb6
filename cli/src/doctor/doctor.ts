import type { Finding } from './check.js';
import { checkDataDirectory, checkEngine, checkInstallation, checkNode, checkQueue, checkServer } from './checks.js';
import { type ExitCode, exitCodes } from '../exit-codes.js';
import { paint } from '../render/colors.js';
import { sayJson, say, type Session } from '../session.js';

/** Checks what Suzumio needs on this machine. */
export async function doctor(session: Session): Promise<ExitCode> {
  const { root, context } = session;
  const findings: Finding[] = [
    checkNode(process.version),
    checkInstallation(),
    checkDataDirectory(root),
    await checkServer(session),
    ...(await checkEngine(root, undefined)),
    await checkQueue(context.env.SUZUMIO_REDIS_URL),
  ];
  const isBroken = findings.some(({ state }) => state === 'broken');
  sayJson(session, findings);
  say(session, ...findings.flatMap((finding) => rendered(finding, session)));
  say(session, '', isBroken ? 'Something is broken; see the lines with "next:".' : 'All is well.');
  return isBroken ? exitCodes.failed : exitCodes.ok;
}

function rendered({ what, state, detail, remedy }: Finding, { context }: Session): string[] {
  const colors = paint(context.out);
  const mark = { ok: colors.green('ok     '), broken: colors.red('broken '), skipped: colors.dim('-      ') }[state];
  const line = `${mark}  ${what.padEnd(8)}${detail}`;
  return remedy === undefined ? [line] : [line, `         ${' '.repeat(8)}next: ${remedy}`];
}
