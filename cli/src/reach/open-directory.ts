import { type Client, createClient } from '@suzumio/contract/client/client';
import type { StorageLimits } from '@suzumio/contract/model/storage';
import { nearestExisting } from '@suzumio/runtime/disk/files';
import { loadPolicy } from '@suzumio/runtime/disk/load-policy';
import { systemContext } from '@suzumio/store/sqlite/context';
import { freeBytesAt } from '@suzumio/store/sqlite/disk-space';
import { dayBudgetOf } from '../day-budget.js';
import { policyFile } from '../host-policy.js';
import type { Session } from '../session.js';

/**
 * The API of the data directory, answered in this process until the command ends: everything is read, and its owner keeps
 * tokens, profiles and teams. All else throws SuzumioError `server-unreachable`.
 */
export async function openDirectory(session: Session): Promise<Client> {
  const { apiInProcess } = await import('@suzumio/api/in-process');
  const { root, context } = session;
  const api = apiInProcess({
    root,
    context: { ...systemContext(), now: context.now },
    storage: storageLimits(session),
    // Of a directory that is not there yet, where it would be.
    freeBytes: (path) => freeBytesAt(nearestExisting(path)),
    get budgetUsdPerDay() {
      return dayBudgetOf(context.env);
    },
  });
  session.onEnd(() => api.close());
  return createClient(api);
}

/** A policy that is written wrongly keeps nobody from what does not ask it. */
function storageLimits(session: Session): StorageLimits {
  let limits: StorageLimits | undefined;
  const read = () => (limits ??= loadPolicy(policyFile(session)).storage);
  return {
    get project() {
      return read().project;
    },
    get agent() {
      return read().agent;
    },
    get reserve() {
      return read().reserve;
    },
  };
}
