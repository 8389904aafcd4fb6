import type { Turn } from './turn.js';
import type { TurnContext } from './turn-context.js';

/**
 * Your code: handles a turn. The text that it returns is the turn's record, not a message. It runs at least once for
 * each turn; what it does through `ctx` takes effect once.
 */
export type HandleTurn = (
  turn: Turn,
  ctx: TurnContext,
) => Promise<string | undefined> | Promise<void> | string | undefined;
