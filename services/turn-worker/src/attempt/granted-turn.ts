import type { AttemptRef, ClaimAnswer } from '@suzumio/protocol/attempts';
import type { Logger } from '@suzumio/runtime/observability/logger';
import type { AttemptPlace } from '../engine/turn-engine.js';
import type { AttemptState } from './attempt-states.js';
import type { Stopwatch } from './stopwatch.js';

/** A turn whose claim was granted. */
export interface GrantedTurn {
  ref: AttemptRef;
  claim: ClaimAnswer;
  state: AttemptState;
  /** When the claim was first sent. */
  sentAtMs: number;
  /** Started with the job. */
  stopwatch: Stopwatch;
  logger: Logger;
}

export function placeOf({ ref, claim }: GrantedTurn): AttemptPlace {
  return { ...ref, turnNumber: claim.input.turn.number ?? Infinity };
}
