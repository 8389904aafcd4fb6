import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { USER_ID } from '@suzumio/contract/model/project-config';
import { bytesInWords, type StorageLimits, type StoredKind, type StoredPool } from '@suzumio/contract/model/storage';
import type { SqlReader } from '../sqlite/sql.js';

/** The owner of bytes that neither an agent nor a person stored, such as turns' inputs. */
export const systemOwner = 'system';

/** In `stored_bytes`, the sum of all owners. */
const everybody = '';

/** What one owner, and what the whole project, has stored in one pool. */
function storedBytes(reader: SqlReader, owner: string, pool: StoredPool): { ofOwner: number; ofProject: number } {
  const row = reader.get<{ ofOwner: number; ofProject: number }>(
    `SELECT coalesce(sum(bytes) FILTER (WHERE owner = :owner), 0) AS ofOwner,
       coalesce(sum(bytes) FILTER (WHERE owner = ''), 0) AS ofProject
     FROM stored_bytes WHERE owner IN (:owner, '') AND iif(kind = 'rows', 'rows', 'files') = :pool`,
    { owner, pool },
  );
  return row ?? { ofOwner: 0, ofProject: 0 };
}

/** What each owner has stored, by kind; the project's sum has no owner. */
export function storedByOwner(reader: SqlReader): { owner: string | null; kind: StoredKind; bytes: number }[] {
  return reader
    .all<{ owner: string; kind: StoredKind; bytes: number }>(
      'SELECT owner, kind, bytes FROM stored_bytes ORDER BY owner, kind',
    )
    .map((row) => ({ ...row, owner: row.owner === everybody ? null : row.owner }));
}

/** A quota that storing more would exceed. */
export interface QuotaPassed {
  /** The owner: an agent's id, or `project`. */
  of: string;
  pool: StoredPool;
  usedBytes: number;
  limitBytes: number;
  /** How much more was to be stored, as far as it was known: of what arrives, what has arrived. */
  neededBytes: number;
  message: string;
}

/**
 * The quota that storing more would exceed, an agent's own or the project's. What people store counts towards the
 * project's.
 *
 * @param moreBytes what is to be stored, and what is stored but not charged yet; by default one byte
 */
export function passedQuota(
  reader: SqlReader,
  limits: StorageLimits,
  owner: string,
  pool: StoredPool,
  moreBytes = { ofOwner: 1, ofProject: 1 },
): QuotaPassed | undefined {
  const { ofOwner: own, ofProject: all } = storedBytes(reader, owner, pool);
  if (hasQuota(owner) && own + moreBytes.ofOwner > limits.agent[pool]) {
    return passed(owner, pool, own, limits, moreBytes.ofOwner);
  }
  return all + moreBytes.ofProject > limits.project[pool]
    ? passed('project', pool, all, limits, moreBytes.ofProject)
    : undefined;
}

/** The full quotas of a project and its agents. */
export function reachedQuotas(reader: SqlReader, limits: StorageLimits): QuotaPassed[] {
  const sums = reader.all<{ owner: string; pool: StoredPool; bytes: number }>(
    `SELECT owner, iif(kind = 'rows', 'rows', 'files') AS pool, sum(bytes) AS bytes FROM stored_bytes
     GROUP BY 1, 2 ORDER BY 1, 2`,
  );
  return sums.flatMap(({ owner, pool, bytes }) => {
    if (owner === everybody) return bytes >= limits.project[pool] ? passed('project', pool, bytes, limits) : [];
    return hasQuota(owner) && bytes >= limits.agent[pool] ? passed(owner, pool, bytes, limits) : [];
  });
}

function hasQuota(owner: string): boolean {
  return owner !== USER_ID && owner !== systemOwner;
}

function passed(of: string, pool: StoredPool, usedBytes: number, limits: StorageLimits, neededBytes = 1): QuotaPassed {
  const rule = of === 'project' ? 'project' : 'agent';
  const limitBytes = limits[rule][pool];
  const whose = of === 'project' ? 'The project' : `Agent ${of}`;
  const what = pool === 'files' ? 'files' : 'rows of its database';
  const help =
    pool === 'files'
      ? 'Files that nothing refers to are removed after a day.'
      : 'Rows are kept as long as their project.';
  const room = neededBytes === 1 ? 'this' : `at least ${bytesInWords(neededBytes)} more`;
  const message = `${whose} has stored ${bytesInWords(usedBytes)} of ${bytesInWords(limitBytes)} that it may store as ${what} (policy: storage.${rule}.${pool}), which leaves no room for ${room}. ${help}`;
  return { of, pool, usedBytes, limitBytes, neededBytes, message };
}

export function quotaExceeded({ of, pool, usedBytes, limitBytes, neededBytes, message }: QuotaPassed): SuzumioError {
  return new SuzumioError('quota-exceeded', message, { of, what: pool, usedBytes, limitBytes, neededBytes });
}
