import { type Client, createClient } from '@suzumio/contract/client/client';
import { defaultStorageLimits, type StorageLimits } from '@suzumio/contract/model/storage';
import { nearestExisting } from '@suzumio/runtime/disk/files';
import { systemContext } from '@suzumio/store/sqlite/context';
import { freeSpaceAt } from '@suzumio/store/sqlite/disk-space';
import { dayBudgetOf } from '../day-budget.js';
import { policyFile } from '../policy-file.js';
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
    storage: await storageLimits(session),
    // Of a directory that is not there yet, where it would be.
    free: (path) => freeSpaceAt(nearestExisting(path)),
    get budgetUsdPerDay() {
      return dayBudgetOf(context.env);
    },
  });
  session.onEnd(() => api.close());
  return createClient(api);
}

/** An invalid policy fails only commands that need it. It is parsed where there is one: loading the parser takes time. */
async function storageLimits(session: Session): Promise<StorageLimits> {
  const file = policyFile(session);
  if (file === undefined) return defaultStorageLimits;
  const { loadPolicy } = await import('@suzumio/runtime/disk/load-policy');
  let limits: StorageLimits | undefined;
  const read = () => (limits ??= loadPolicy(file).storage);
  return {
    get project() {
      return read().project;
    },
    get agent() {
      return read().agent;
    },
    get history() {
      return read().history;
    },
    get reserve() {
      return read().reserve;
    },
  };
}
