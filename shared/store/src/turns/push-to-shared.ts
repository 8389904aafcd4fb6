import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { sharedOf } from '@suzumio/core/config/sandbox-of';
import type { ProjectConfig } from '@suzumio/contract/model/project-config';
import { maxRefs, type PushRequest, type RefUpdate, type SharedRepository } from '@suzumio/protocol/shared-repository';
import { isPushed } from '../content/shared-repository.js';
import { passedQuota } from '../content/stored-bytes.js';
import { noteEffect } from '../protection/watch.js';
import type { SqlReader } from '../sqlite/sql.js';
import type { Tx } from '../sqlite/tx.js';
import { type AttemptId, authorizeTool } from './authorize.js';

/** A pack that is stored, and was found to be one. */
export interface CheckedPack {
  sha256: string;
  sizeBytes: number;
  objects: number;
}

/** What a push is refused for before its pack is looked at. */
type Push = Pick<PushRequest, 'key' | 'updates'>;

/**
 * Moves references of the shared repository: all that a push names, or none. The same push, by its key, is answered the same.
 *
 * @returns its number
 * @throws SuzumioError `token-rejected`; what {@link findPush}, {@link requireRoom} and {@link requirePushable} throw
 */
export function pushToShared(
  tx: Tx,
  at: AttemptId & { tokenHash: string },
  push: Push,
  pack: CheckedPack | undefined,
): number {
  const { agent } = authorizeTool(tx, at);
  const { turn, attempt } = at;
  const before = findPush(tx, turn, push);
  if (before !== undefined) return before;
  requireRoom(tx, tx, agent, turn);
  requirePushable(tx, requireShared(tx.config, agent), push.updates);
  const seq = tx.insert('git_pushes', {
    agent_id: agent,
    turn_id: turn,
    attempt,
    key: push.key,
    pack: pack?.sha256 ?? null,
    pack_bytes: pack?.sizeBytes ?? 0,
    pack_objects: pack?.objects ?? 0,
    updates_json: JSON.stringify(push.updates),
    created_at_ms: tx.nowMs,
  });
  // One that came again stays where it came first.
  if (pack && !isPushed(tx, pack.sha256)) tx.insert('git_packs', { push_seq: seq, sha256: pack.sha256 });
  for (const { ref, to } of push.updates) {
    if (to === null) tx.run('DELETE FROM git_refs WHERE name = :ref', { ref });
    else {
      tx.run(
        `INSERT INTO git_refs (name, object_id, push_seq) VALUES (:ref, :to, :seq)
         ON CONFLICT (name) DO UPDATE SET object_id = :to, push_seq = :seq`,
        { ref, to, seq },
      );
    }
  }
  tx.emit({
    type: 'git.pushed',
    actor: agent,
    agent,
    turn,
    data: { push: seq, updates: push.updates, objects: pack?.objects ?? 0, sizeBytes: pack?.sizeBytes ?? 0 },
  });
  noteEffect(tx, agent);
  return seq;
}

/**
 * Requires that a turn may push once more: no more often than it may call tools, and within the quotas.
 *
 * @throws SuzumioError `tool-limit-reached`, `quota-exceeded`
 */
export function requireRoom(
  reader: SqlReader,
  { config, storage }: Pick<Tx, 'config' | 'storage'>,
  agent: string,
  turn: string,
): void {
  const most = config.turn.maxToolCalls;
  const made = reader.get<{ count: number }>('SELECT count(*) AS count FROM git_pushes WHERE turn_id = :turn', {
    turn,
  });
  if ((made?.count ?? 0) >= most) {
    throw new SuzumioError(
      'tool-limit-reached',
      `A turn may push ${String(most)} times (turn.maxToolCalls), and this one has.`,
    );
  }
  const passed = passedQuota(reader, storage, agent, 'rows');
  if (passed) throw new SuzumioError('quota-exceeded', passed.message);
}

/** @throws SuzumioError `git-not-shared` */
export function requireShared(config: ProjectConfig, agent: string): SharedRepository {
  const shared = sharedOf(config, agent);
  if (shared) return shared;
  throw new SuzumioError(
    'git-not-shared',
    'The agents of this project share no repository: its file says nothing of git: { shared: true }.',
  );
}

/**
 * The number of a push that was taken before.
 *
 * @throws SuzumioError `git-ref-refused` where the turn has pushed something else by this key
 */
export function findPush(reader: SqlReader, turn: string, { key, updates }: Push): number | undefined {
  const row = reader.get<{ seq: number; updates: string }>(
    'SELECT seq, updates_json AS updates FROM git_pushes WHERE turn_id = :turn AND key = :key',
    { turn, key },
  );
  if (row === undefined || row.updates === JSON.stringify(updates)) return row?.seq;
  throw new SuzumioError('git-ref-refused', `This turn has pushed something else as ${key}: push under another key.`);
}

/**
 * Requires that an agent may move these references from where it says that they are.
 *
 * @throws SuzumioError `git-ref-refused`, `git-ref-moved`, `git-refs-full`
 */
export function requirePushable(
  reader: SqlReader,
  { branch, maintains }: SharedRepository,
  updates: readonly RefUpdate[],
): void {
  const refs = new Map(
    reader
      .all<{ name: string; id: string }>('SELECT name, object_id AS id FROM git_refs')
      .map(({ name, id }) => [name, id]),
  );
  const seen = new Set<string>();
  for (const { ref, from, to } of updates) {
    if (seen.has(ref)) throw new SuzumioError('git-ref-refused', `${ref} is moved twice by one push.`);
    seen.add(ref);
    if (from === to) throw new SuzumioError('git-ref-refused', `${ref} is not moved by this push: leave it out.`);
    if (!maintains && !isOwn(ref, branch)) {
      throw new SuzumioError(
        'git-ref-refused',
        `${ref} is not yours to move: push to ${branch} or below ${branch}/, and ask whoever maintains the repository to merge it.`,
      );
    }
    const now = refs.get(ref) ?? null;
    if (now !== from) {
      throw new SuzumioError(
        'git-ref-moved',
        `${ref} is ${now === null ? 'not there' : `at ${now}`} meanwhile: fetch, and push again.`,
      );
    }
    if (to === null) refs.delete(ref);
    else refs.set(ref, to);
  }
  if (refs.size > maxRefs) {
    throw new SuzumioError(
      'git-refs-full',
      `The shared repository has at most ${String(maxRefs)} branches and tags: delete some.`,
    );
  }
  const names = [...refs.keys()];
  for (const { ref, to } of updates) {
    const beside = to === null ? undefined : names.find((name) => isBelow(name, ref) || isBelow(ref, name));
    if (beside !== undefined) {
      throw new SuzumioError('git-ref-refused', `${ref} and ${beside} cannot both be there: use another name.`);
    }
  }
}

/** Whether a branch or a tag is an agent's own: named as its branch, or below that name. */
function isOwn(ref: string, branch: string): boolean {
  const name = ref.replace(/^refs\/(?:heads|tags)\//, '');
  return name === branch || isBelow(name, branch);
}

function isBelow(name: string, above: string): boolean {
  return name.startsWith(above) && name[above.length] === '/';
}
