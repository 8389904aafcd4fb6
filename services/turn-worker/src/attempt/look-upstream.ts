import type { AttemptRef, ClaimAnswer } from '@suzumio/protocol/attempts';
import { HttpRefusal } from '@suzumio/protocol/http-failures';
import { type LookReport, type LookRequest, type Repository } from '@suzumio/protocol/repository';
import { retry } from '@suzumio/protocol/retry';
import type { Logger } from '@suzumio/runtime/observability/logger';
import { AttemptFailure } from '../engine/attempt-failure.js';
import type { Looked } from '../git/pack-news.js';
import type { AttemptClient } from '../toolhost/toolhost-client.js';
import { upload } from '../workspace/content-exchange.js';
import type { Workspace } from '../workspace/workspaces.js';
import { contentRetry, isOfRoom } from './agent-workspace.js';
import { type Host, requireAllowed } from './host.js';
import type { StopSwitch } from './stop-switch.js';

/**
 * Looks where the repository of an agent's clone is, and has that recorded before the turn starts: all of its attempts are
 * told the same. A turn does not fail for it: where nothing can be found out, that is recorded.
 *
 * @returns the repository, as the turn is told of it
 */
export async function lookUpstream(
  { bounds, ignored }: Pick<Workspace, 'bounds' | 'ignored'>,
  look: LookRequest,
  { ref, claim }: { ref: AttemptRef; claim: ClaimAnswer },
  { host, client, stop, logger }: { host: Host; client: AttemptClient; stop: StopSwitch; logger: Logger },
): Promise<Repository | undefined> {
  const check = (git: string) => void requireAllowed(host, ref, { ...claim, clone: { ...look, git } });
  const report = await found(async () => {
    check(look.git);
    const how = { bounds, ignored, check, signal: stop.stopped };
    return host.repositories.look(look, how, async (looked) => {
      if (looked.pack) {
        const { file, sha256, sizeBytes } = looked.pack;
        await retry(() => upload({ file, sha256, sizeBytes }, client), contentRetry(stop));
      }
      return reportOf(looked);
    });
  });
  if ('noNews' in report) logger.info({ code: report.noNews.code }, 'a repository could not be looked at');
  const { upstream } = await retry(() => client.putUpstream(report), contentRetry(stop));
  const { repository } = claim.input;
  return repository && upstream ? { ...repository, upstream } : repository;
}

/** @throws what is no fault of the repository */
async function found(look: () => Promise<LookReport>): Promise<LookReport> {
  try {
    return await look();
  } catch (error) {
    const message = error instanceof Error ? error.message.slice(0, 2_000) : '';
    if (error instanceof HttpRefusal && isOfRoom(error.code)) {
      return { noNews: { code: error.code === 'quota-exceeded' ? 'quota-exceeded' : 'disk-full', message } };
    }
    // A full disk of this host is met by all of the turn.
    if (!(error instanceof AttemptFailure) || error.code === 'disk-full') throw error;
    return { noNews: { code: error.code, message } };
  }
}

function reportOf({ commit, ahead, rewritten, pack, shallow }: Looked): LookReport {
  return {
    commit,
    ...(ahead === undefined ? {} : { ahead }),
    rewritten,
    ...(pack === undefined ? {} : { pack: { sha256: pack.sha256, sizeBytes: pack.sizeBytes, alone: pack.alone } }),
    ...(shallow === undefined ? {} : { shallow }),
  };
}
