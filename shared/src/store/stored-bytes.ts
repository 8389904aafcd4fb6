import { SuzumioError } from '../errors/suzumio-error.js';
import { USER_ID } from '../model/project-config.js';
import { bytesInWords, type StorageLimits, type StoredKind, type StoredPool } from '../model/storage.js';
import type { SqlReader } from './sql.js';

/** Whose the bytes are that no agent and no person has stored, such as what turns are told. */
export const systemOwner = 'system';

/** In `stored_bytes`: the project, that is all owners together. */
const everybody = '';

/** What one owner has stored; without one, what the whole project has. */
export function storedBytes(reader: SqlReader, owner: string = everybody): Record<StoredPool, number> {
  const row = reader.get<{ files: number; rows: number }>(
    `SELECT coalesce(sum(bytes) FILTER (WHERE kind <> 'rows'), 0) AS files,
       coalesce(sum(bytes) FILTER (WHERE kind = 'rows'), 0) AS rows FROM stored_bytes WHERE owner = :owner`,
    { owner },
  );
  return row ?? { files: 0, rows: 0 };
}

/** What each owner has stored, by kind; the project's own sum has no owner. */
export function storedByOwner(reader: SqlReader): { owner: string | null; kind: StoredKind; bytes: number }[] {
  return reader
    .all<{ owner: string; kind: StoredKind; bytes: number }>(
      'SELECT owner, kind, bytes FROM stored_bytes ORDER BY owner, kind',
    )
    .map((row) => ({ ...row, owner: row.owner === everybody ? null : row.owner }));
}

/** A bound that storing something would pass. */
export interface QuotaPassed {
  /** Whose it is: an agent's id, or `project`. */
  of: string;
  pool: StoredPool;
  usedBytes: number;
  limitBytes: number;
  message: string;
}

/**
 * The quota that storing more would pass, an agent's own or the project's. What people store counts in the project's.
 *
 * @param moreBytes what is to be stored, and what is being stored and not yet counted; by default anything at all
 */
export function passedQuota(
  reader: SqlReader,
  limits: StorageLimits,
  owner: string,
  pool: StoredPool,
  moreBytes = { ofOwner: 1, ofProject: 1 },
): QuotaPassed | undefined {
  const bounds = [
    ...(owner === USER_ID || owner === systemOwner
      ? []
      : [{ of: owner, used: storedBytes(reader, owner), quota: limits.agent, more: moreBytes.ofOwner, rule: 'agent' }]),
    {
      of: 'project',
      used: storedBytes(reader),
      quota: limits.project,
      more: moreBytes.ofProject,
      rule: 'project',
    },
  ];
  const passed = bounds.find(({ used, quota, more }) => used[pool] + more > quota[pool]);
  if (!passed) return undefined;
  const { of, rule } = passed;
  const [usedBytes, limitBytes] = [passed.used[pool], passed.quota[pool]];
  const what = pool === 'files' ? 'files' : 'rows of its database';
  const whose = of === 'project' ? 'The project' : `Agent ${of}`;
  const help =
    pool === 'files'
      ? ' Files that nothing refers to are removed after a day.'
      : ' Rows are kept as long as their project.';
  const message = `${whose} has stored ${bytesInWords(usedBytes)} of ${bytesInWords(limitBytes)} that it may store as ${what} (policy: storage.${rule}.${pool}), which leaves too little for this.${help}`;
  return { of, pool, usedBytes, limitBytes, message };
}

export function quotaExceeded({ of, pool, usedBytes, limitBytes, message }: QuotaPassed): SuzumioError {
  return new SuzumioError('quota-exceeded', message, { of, what: pool, usedBytes, limitBytes });
}
