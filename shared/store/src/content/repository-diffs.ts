import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import {
  type Comparison,
  comparison as comparisonSchema,
  type ComparisonGranted,
  type ComparisonOutcome,
  type ComparisonRefusal,
  compareMs,
  maxComparedObjects,
  maxComparedPackBytes,
  maxComparedPacks,
  type RepositoryDiff,
} from '@suzumio/protocol/repository-diff';
import type { RefUpdate } from '@suzumio/protocol/shared-repository';
import type { SqlReader } from '../sqlite/sql.js';
import type { Tx } from '../sqlite/tx.js';
import { sharedPacks } from './shared-repository.js';

// Comparisons of two commits of the shared repository: asked for by a person, taken by one worker, ended by it. A row is the
// state of one; there is no timer, so that what has taken too long is found by whoever looks next.

/** How long a comparison waits for a worker. */
const takeWithinMs = 30_000;
/** When one that was taken is given up: its worker has died, or cannot be reached. */
const endWithinMs = compareMs + 30_000;
/** How long a refusal is the answer, before a worker tries again. */
const refusedForMs = 30_000;
/** The same where no worker took it. */
const untakenForMs = 2_000;

/** How much is kept of what was made. */
const kept = { bytes: 16 * 1024 * 1024, diffs: 1_000 };

interface DiffRow {
  seq: number;
  asked_at_ms: number;
  claim: string | null;
  claimed_at_ms: number | null;
  ended_at_ms: number | null;
  made_json: string | null;
  refused_json: string | null;
}

/** Why there is no diff; more than a worker can say. */
type DiffRefusal = { code: ComparisonRefusal['code'] | 'git-diff-no-worker'; message: string };

/** How it stands with a comparison. `waits`: a worker has it, or will. `free`: nobody has asked, or it may be tried again. */
export type DiffState =
  | { kind: 'made'; diff: RepositoryDiff }
  | { kind: 'refused'; refused: DiffRefusal }
  | { kind: 'waits' }
  | { kind: 'free' };

export function stateOfDiff(reader: SqlReader, comparison: Comparison, nowMs: number): DiffState {
  // A database that is only read may have an earlier schema.
  if (!reader.get(`SELECT 1 FROM sqlite_schema WHERE name = 'git_diffs'`)) return { kind: 'free' };
  const row = rowOf(reader, comparison);
  return row ? stateOf(row, nowMs) : { kind: 'free' };
}

/**
 * Asks for a comparison, unless that was done.
 *
 * @returns its number, where a job is to be put on the queue; `busy` while another one of the project is made
 * @throws SuzumioError `git-diff-too-large`
 */
export function askForDiff(tx: Tx, comparison: Comparison): { asked: number } | DiffState | 'busy' {
  tx.run('DELETE FROM git_diffs WHERE refused_json IS NOT NULL AND ended_at_ms <= :until', {
    until: tx.nowMs - refusedForMs,
  });
  const row = rowOf(tx, comparison);
  const state = row ? stateOf(row, tx.nowMs) : ({ kind: 'free' } as const);
  if (row && state.kind === 'refused' && row.ended_at_ms === null) end(tx, row.seq, { refused_json: state.refused });
  if (state.kind !== 'free') return state;
  if (row) tx.run('DELETE FROM git_diffs WHERE seq = :seq', { seq: row.seq });
  for (const other of tx.all<DiffRow>('SELECT * FROM git_diffs WHERE ended_at_ms IS NULL')) {
    const theirs = stateOf(other, tx.nowMs);
    if (theirs.kind === 'waits') return 'busy';
    if (theirs.kind === 'refused') end(tx, other.seq, { refused_json: theirs.refused });
  }
  requireSmall(tx);
  const seq = tx.insert('git_diffs', { comparison_json: keyOf(comparison), asked_at_ms: tx.nowMs });
  return { asked: seq };
}

/** Takes a comparison back whose job could not be put on the queue. */
export function takeDiffBack(tx: Tx, seq: number): void {
  tx.run('DELETE FROM git_diffs WHERE seq = :seq AND claim IS NULL', { seq });
}

/**
 * Gives a comparison to a worker; the same claim is answered the same.
 *
 * @throws SuzumioError `claim-refused`
 */
export function claimDiff(tx: Tx, seq: number, claim: string): ComparisonGranted {
  const row = tx.get<DiffRow & { comparison_json: string }>('SELECT * FROM git_diffs WHERE seq = :seq', { seq });
  if (row === undefined || stateOf(row, tx.nowMs).kind !== 'waits' || (row.claim ?? claim) !== claim) throw notTheirs();
  tx.run('UPDATE git_diffs SET claim = :claim, claimed_at_ms = :now WHERE seq = :seq AND claim IS NULL', {
    seq,
    claim,
    now: tx.nowMs,
  });
  const packs = sharedPacks(tx, 0, maxComparedPacks);
  return {
    comparison: comparisonSchema.parse(JSON.parse(row.comparison_json)),
    packs: packs.map(({ sha256, sizeBytes }) => ({ sha256, sizeBytes })),
  };
}

/** @throws SuzumioError `claim-refused` unless the claim has a comparison that has not ended */
export function requireClaimed(reader: SqlReader, seq: number, claim: string): void {
  const row = reader.get<DiffRow>('SELECT * FROM git_diffs WHERE seq = :seq', { seq });
  if (row?.claim !== claim || row.ended_at_ms !== null) throw notTheirs();
}

/**
 * Keeps what came of a comparison; a second time nothing changes.
 *
 * @throws SuzumioError `claim-refused`
 */
export function endDiff(tx: Tx, seq: number, claim: string, outcome: ComparisonOutcome): void {
  const row = tx.get<DiffRow>('SELECT * FROM git_diffs WHERE seq = :seq', { seq });
  if (row?.claim !== claim) throw notTheirs();
  if (row.ended_at_ms !== null) return;
  end(tx, seq, 'made' in outcome ? { made_json: outcome.made } : { refused_json: outcome.refused });
  forgetOld(tx);
}

/**
 * The id of what a name stands for: a branch, a tag, or a commit; of those that pushes have named, also by its beginning.
 *
 * @throws SuzumioError `git-ref-unknown`
 */
export function objectNamed(reader: SqlReader, name: string): string {
  for (const ref of [name, `refs/heads/${name}`, `refs/tags/${name}`]) {
    const found = reader.get<{ id: string }>('SELECT object_id AS id FROM git_refs WHERE name = :ref', { ref });
    if (found) return found.id;
  }
  if (/^[0-9a-f]{40}$/.test(name)) return name;
  const ids = /^[0-9a-f]{7,39}$/.test(name) ? idsThatBegin(reader, name) : [];
  const [id] = ids;
  if (id !== undefined && ids.length === 1) return id;
  throw new SuzumioError(
    'git-ref-unknown',
    ids.length > 1
      ? `Several commits begin with ${name}: give more of it.`
      : `The shared repository has no branch or tag ${JSON.stringify(name)}, and no push has named such a commit: expected a branch, a tag, or the whole id of a commit.`,
  );
}

function idsThatBegin(reader: SqlReader, beginning: string): string[] {
  const rows = reader.all<{ updates: string }>(
    `SELECT updates_json AS updates FROM git_pushes WHERE instr(updates_json, :quoted) > 0 LIMIT 100`,
    { quoted: `"${beginning}` },
  );
  const ids = rows
    .flatMap(({ updates }) => JSON.parse(updates) as RefUpdate[])
    .flatMap(({ from, to }) => [from, to])
    .filter((id): id is string => id?.startsWith(beginning) ?? false);
  return [...new Set(ids)];
}

/** In one order, so that the same is found. */
function keyOf({ from, to, common }: Comparison): string {
  return JSON.stringify({ from, to, common });
}

function rowOf(reader: SqlReader, comparison: Comparison): DiffRow | undefined {
  return reader.get<DiffRow>('SELECT * FROM git_diffs WHERE comparison_json = :key', { key: keyOf(comparison) });
}

function stateOf(row: DiffRow, nowMs: number): DiffState {
  if (row.made_json !== null) return { kind: 'made', diff: JSON.parse(row.made_json) as RepositoryDiff };
  if (row.refused_json !== null) {
    const refused = JSON.parse(row.refused_json) as DiffRefusal;
    const isAnswer =
      nowMs - (row.ended_at_ms ?? 0) < (refused.code === 'git-diff-no-worker' ? untakenForMs : refusedForMs);
    return isAnswer ? { kind: 'refused', refused } : { kind: 'free' };
  }
  if (row.claimed_at_ms === null) {
    if (nowMs - row.asked_at_ms < takeWithinMs) return { kind: 'waits' };
    const message = `No worker was free to compare the commits within ${String(takeWithinMs / 1000)} s: ask again later (suzumio workers).`;
    return { kind: 'refused', refused: { code: 'git-diff-no-worker', message } };
  }
  if (nowMs - row.claimed_at_ms < endWithinMs) return { kind: 'waits' };
  const message =
    'The worker that compared the commits has not answered: it was ended, or cannot be reached. Ask again.';
  return { kind: 'refused', refused: { code: 'git-diff-failed', message } };
}

/** @throws SuzumioError `git-diff-too-large` where the repository is */
function requireSmall(reader: SqlReader): void {
  const packs = sharedPacks(reader, 0, maxComparedPacks + 1);
  const sum = (of: (pack: (typeof packs)[number]) => number) => packs.reduce((total, pack) => total + of(pack), 0);
  const [bytes, objects] = [sum(({ sizeBytes }) => sizeBytes), sum((pack) => pack.objects)];
  if (bytes <= maxComparedPackBytes && objects <= maxComparedObjects && packs.length <= maxComparedPacks) return;
  throw new SuzumioError(
    'git-diff-too-large',
    `The shared repository is too large to compare commits in it: at most ${String(maxComparedPackBytes / 1024 ** 2)} MiB, ` +
      `${String(maxComparedObjects)} objects and ${String(maxComparedPacks)} pushes. Get it (suzumio git bundle), and compare them yourself.`,
  );
}

function end(tx: Tx, seq: number, what: { made_json: RepositoryDiff } | { refused_json: DiffRefusal }): void {
  const [[column, value] = ['', undefined]] = Object.entries(what);
  tx.run(`UPDATE git_diffs SET ${column} = :json, ended_at_ms = :now WHERE seq = :seq`, {
    seq,
    json: JSON.stringify(value),
    now: tx.nowMs,
  });
}

/** The oldest are made again when they are asked for. */
function forgetOld(tx: Tx): void {
  const made = tx.all<{ seq: number; bytes: number }>(
    'SELECT seq, octet_length(made_json) AS bytes FROM git_diffs WHERE made_json IS NOT NULL ORDER BY ended_at_ms DESC, seq DESC',
  );
  let bytes = 0;
  made.forEach((row, index) => {
    bytes += row.bytes;
    if (bytes <= kept.bytes && index < kept.diffs) return;
    tx.run('DELETE FROM git_diffs WHERE seq = :seq', { seq: row.seq });
  });
}

function notTheirs(): SuzumioError {
  return new SuzumioError('claim-refused', 'Nobody waits for this comparison any more, or another worker has it.');
}
