import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { sharedOf } from '@suzumio/core/config/sandbox-of';
import type { PushRequest, SharedRepository } from '@suzumio/protocol/shared-repository';
import { type CheckedPack, notShared, recordPush, requirePushable } from '../content/shared-pushes.js';
import { passedQuota } from '../content/stored-bytes.js';
import { noteEffect } from '../protection/watch.js';
import { turnRow } from '../rows.js';
import type { ConfigVersions } from '../sqlite/configs.js';
import type { SqlReader } from '../sqlite/sql.js';
import type { Tx } from '../sqlite/tx.js';
import { type AttemptId, authorizeTool } from './authorize.js';
import { configOfTurn } from './turn-config.js';

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
  for (const rights of pushRights(tx, tx, { agent, turn })) requirePushable(tx, rights, push.updates);
  const by = { agent, turn, attempt, key: push.key };
  const seq = recordPush(tx, { actor: agent, by, updates: push.updates, pack });
  noteEffect(tx, agent);
  return seq;
}

/**
 * Requires that a turn may push once more: before a call has ended it, no more often than it may call tools, and within the quotas.
 *
 * @throws SuzumioError `turn-ended`, `tool-limit-reached`, `quota-exceeded`
 */
export function requireRoom(
  reader: SqlReader,
  settings: ConfigVersions & Pick<Tx, 'storage'>,
  agent: string,
  turn: string,
): void {
  const { ended_by_tool: endedBy } = turnRow(reader, turn);
  if (endedBy !== null) throw new SuzumioError('turn-ended', `This turn has ended with ${endedBy}.`);
  const most = configOfTurn(reader, settings, turn).turn.maxToolCalls;
  const made = reader.get<{ count: number }>('SELECT count(*) AS count FROM git_pushes WHERE turn_id = :turn', {
    turn,
  });
  if ((made?.count ?? 0) >= most) {
    throw new SuzumioError(
      'tool-limit-reached',
      `A turn may push ${String(most)} times (turn.maxToolCalls), and this one has.`,
    );
  }
  const passed = passedQuota(reader, settings.storage, agent, 'rows');
  if (passed) throw new SuzumioError('quota-exceeded', passed.message);
}

/**
 * What an agent may move in the shared repository in a turn: what both the version of the project's file that the turn began
 * with and the newest allow.
 *
 * @throws SuzumioError `git-not-shared`
 */
export function pushRights(
  reader: SqlReader,
  configs: ConfigVersions,
  { agent, turn }: { agent: string; turn: string },
): SharedRepository[] {
  return [configOfTurn(reader, configs, turn), configs.config].map((config) => {
    const shared = sharedOf(config, agent);
    if (shared) return shared;
    throw notShared(config.name);
  });
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
