import type { Tx } from '../sqlite/tx.js';

// A workspace over its bounds cannot be captured, and only the model can mend that. So it is told, in place of the answer to its
// next question, and may answer with more steps in the sandbox. What is journaled meanwhile may depend on steps that no capture
// covers: it counts from the next capture on, and a later attempt that begins before that knows nothing of it.

/** How often a turn is told between two captures. */
export const mostTold = 8;

/**
 * Notes a question that comes while the workspace cannot be captured: every other one is answered with why.
 *
 * @returns what to do with it; `end-turn` where the turn was told too often
 */
export function noteUncapturedQuestion(tx: Tx, turn: string, step: string): 'ask' | 'tell' | 'end-turn' {
  const rows = tx.all<{ step: string; told: number }>(
    'SELECT step, told FROM uncaptured_steps WHERE turn_id = :turn ORDER BY seq',
    { turn },
  );
  // Waiting for room in a budget, a question is begun more than once.
  if (rows.some((row) => row.step === step)) return 'ask';
  const isTold = rows.at(-1)?.told !== 1;
  tx.insert('uncaptured_steps', { turn_id: turn, step, told: isTold ? 1 : 0 });
  if (!isTold) return 'ask';
  return rows.filter(({ told }) => told === 1).length < mostTold ? 'tell' : 'end-turn';
}

/** Notes a call that is refused because the workspace cannot be captured. */
export function noteUncapturedCall(tx: Tx, turn: string, step: string): void {
  tx.insert('uncaptured_steps', { turn_id: turn, step, told: 0 });
}

/** Keeps what was journaled without a capture: there is one now. */
export function keepUncaptured(tx: Tx, turn: string): void {
  tx.run('DELETE FROM uncaptured_steps WHERE turn_id = :turn', { turn });
}

/** Takes out of the journal what no capture covers, before another attempt begins. */
export function dropUncaptured(tx: Tx, turn: string): void {
  tx.run(
    `DELETE FROM turn_steps WHERE turn_id = :turn AND key IN (SELECT step FROM uncaptured_steps WHERE turn_id = :turn)`,
    { turn },
  );
  keepUncaptured(tx, turn);
}
