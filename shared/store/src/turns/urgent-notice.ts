import { USER_ID } from '@suzumio/contract/model/project-config';
import type { RecordedStep } from '../journal.js';
import { agentRow, type TurnRow } from '../rows.js';
import type { Tx } from '../sqlite/tx.js';

/** The call that a notice may go with. */
export interface NotedCall {
  /** The id of its row. */
  id: string;
  agent: string;
}

/**
 * The result of a call, with a notice of the person's urgent mail (`P0`) that came since the turn's prompt was made. Each
 * message is in one notice of a turn, which has count and sender, and no text. The mail stays unread. The notice is
 * part of what is recorded; a step that is taken again has the same.
 */
export function withUrgentNotice<Result extends RecordedStep>(
  tx: Tx,
  turn: TurnRow,
  { id, agent }: NotedCall,
  result: Result,
): Result {
  if (!mayHaveNotice(tx, turn, agent) || (result.ok && !isNoticeable(result.response))) return result;
  const notice = noticeOf(tx, id) ?? newNotice(tx, turn, id, agent);
  if (notice === undefined) return result;
  if (!result.ok) return { ...result, message: `${notice}\n${result.message}` };
  return {
    ...result,
    response: { ...result.response, output: `${notice}\n\n${String(result.response.output)}` },
  };
}

/** Scripts and handlers are programs: a notice in a result would be read as part of it. */
function mayHaveNotice(tx: Tx, turn: TurnRow, agent: string): boolean {
  return tx.configAt(turn.config_version).backend.runner.mode === 'ai' && agentRow(tx, agent).external === 0;
}

/** No model reads a result that ends the turn. */
function isNoticeable({ output, endTurn }: { output?: unknown; endTurn?: boolean | undefined }): boolean {
  return typeof output === 'string' && endTurn !== true;
}

function noticeOf(tx: Tx, id: string): string | undefined {
  const row = tx.get<{ notice: string | null }>('SELECT notice FROM tool_calls WHERE id = :id', { id });
  return row?.notice ?? undefined;
}

function newNotice(tx: Tx, turn: TurnRow, id: string, agent: string): string | undefined {
  const { count, newest } = tx.get<{ count: number; newest: number | null }>(
    `SELECT count(*) AS count, max(m.seq) AS newest FROM inbox JOIN messages m ON m.seq = inbox.message_seq
     WHERE inbox.recipient = :agent AND inbox.priority = 'P0' AND m.sender = :user AND m.redacted_json IS NULL
       AND inbox.message_seq > max(:prompt,
         (SELECT coalesce(max(notice_seq), 0) FROM tool_calls WHERE turn_id = :turn))`,
    { agent, user: USER_ID, prompt: turn.prompt_seq ?? 0, turn: turn.id },
  ) ?? { count: 0, newest: null };
  if (newest === null) return undefined;
  const came = count === 1 ? 'An urgent message (P0) has' : `${count} urgent messages (P0) have`;
  const notice = `[${came} come from "${USER_ID}" while you work. Your next turn reads ${count === 1 ? 'it' : 'them'}: come to an end soon.]`;
  tx.run('UPDATE tool_calls SET notice = :notice, notice_seq = :newest WHERE id = :id', { id, notice, newest });
  return notice;
}
