import { setTimeout as sleep } from 'node:timers/promises';

/** Waits until one of some signals is aborted, for `withinMs` at most. */
export async function anyOf(signals: readonly AbortSignal[], withinMs: number): Promise<void> {
  await sleep(withinMs, undefined, { signal: AbortSignal.any([...signals]) }).catch(() => undefined);
}
