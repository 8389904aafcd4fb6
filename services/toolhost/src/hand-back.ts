import { finished } from 'node:stream/promises';
import type { Response } from 'express';
import { handBack } from '@suzumio/store/turns/hand-back';
import type { GrantedTurn } from './claim-for-handler.js';
import type { ToolhostContext } from './context.js';

/** Hands a turn back whose handler disconnected before its answer was written. */
export async function handBackUnanswered(
  { cell: { stores }, logger }: ToolhostContext,
  response: Response,
  { turn: { project, id, attempt }, leaseUntilMs }: GrantedTurn,
): Promise<void> {
  const answered = await finished(response).then(
    () => true,
    () => false,
  );
  if (answered) return;
  try {
    await stores.use(project, (store) => store.write((tx) => handBack(tx, { turn: id, attempt }, leaseUntilMs)));
  } catch (error) {
    // Its lease runs out.
    logger.warn({ err: error, project, turn: id }, 'could not hand back a turn whose handler is gone');
  }
}
