import type { AttemptEnded, CompleteRequest } from '@suzumio/protocol/attempts';
import type { TurnOutput } from '@suzumio/protocol/runner';
import { type LeftArtifacts, publishLeft } from '../content/publish-left.js';
import { watchTurnEnd } from '../protection/watch.js';
import { attemptRow, turnRow } from '../rows.js';
import type { Tx } from '../sqlite/tx.js';
import { assertRunning, type AttemptId } from './authorize.js';
import { keepCapture } from './captures.js';
import { type CountedChange, leaveWorkspace } from '../workspaces/workspace-changes.js';
import { closeAttempt, closeTurn } from './end-turn.js';
import { noticeTurn } from './turn-notices.js';

/**
 * Ends a turn successfully. A repeated report gets the same answer.
 *
 * @param counted how the workspace has changed
 * @param artifacts what it has changed in its agent's own directory of artifacts
 * @throws SuzumioError `attempt-over`
 */
export function completeTurn(
  tx: Tx,
  id: AttemptId,
  report: Omit<CompleteRequest, 'output'> & { output: TurnOutput },
  counted?: CountedChange,
  artifacts?: LeftArtifacts,
): AttemptEnded {
  const turn = turnRow(tx, id.turn);
  const attempt = attemptRow(tx, id.turn, id.attempt);
  if (attempt?.status === 'completed') return { turn: 'completed' };
  assertRunning(attempt, id);
  const { stats, unsaved } = report;
  const unpublished = artifacts && publishLeft(tx, turn, artifacts);
  const more = { ...(unsaved ? { unsaved } : {}), ...(unpublished ? { unpublished } : {}) };
  closeAttempt(tx, attempt, {
    status: 'completed',
    stats: Object.keys(more).length > 0 ? { ...stats, ...more } : stats,
  });
  tx.run('UPDATE turns SET output_text = :text, usage_json = :usage WHERE id = :turn', {
    turn: turn.id,
    text: report.output.text,
    usage: report.output.usage ? JSON.stringify(report.output.usage) : null,
  });
  // A workspace that could not be stored at the end may have been captured before.
  const left =
    report.snapshot === undefined ? keepCapture(tx, turn) : leaveWorkspace(tx, turn, report.snapshot, counted);
  closeTurn(tx, turn, { status: 'completed' });
  const made = madeBy(tx, turn.id);
  tx.emit({
    type: 'turn.completed',
    actor: 'system',
    agent: turn.agent_id,
    turn: turn.id,
    data: {
      number: turn.number,
      attempt: id.attempt,
      durationMs: tx.nowMs - attempt.started_at_ms,
      ...made,
      ...(left?.files ? { files: left.files } : {}),
      ...(unsaved ? { unsaved } : {}),
    },
  });
  const hasWorked = left !== undefined && !left.onlyIndex;
  const madeSomething = hasWorked || turn.ended_by_tool !== null || made.messages + made.artifacts > 0;
  watchTurnEnd(tx, turn, { text: report.output.text, madeSomething });
  noticeTurn(tx, turn, { notice: 'finished' });
  return { turn: 'completed' };
}

interface Made {
  messages: number;
  artifacts: number;
  /** Calls of tools, those that were refused among them. */
  calls: number;
}

function madeBy(tx: Tx, turn: string): Made {
  const made = tx.get<Made>(
    `SELECT (SELECT count(*) FROM messages WHERE turn_id = :turn) AS messages,
       (SELECT count(*) FROM artifacts WHERE turn_id = :turn) AS artifacts,
       (SELECT count(*) FROM tool_calls WHERE turn_id = :turn AND step NOT LIKE '%/%') AS calls`,
    { turn },
  );
  return made ?? { messages: 0, artifacts: 0, calls: 0 };
}
