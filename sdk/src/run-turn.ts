import { messageOf, RetryLater, SuzumioError } from './errors.js';
import type { HandleTurn } from './handle-turn.js';
import type { Http } from './http.js';
import { attemptPath, keepLease } from './lease.js';
import type { Turn } from './turn.js';
import { turnContext } from './turn-context.js';
import { type ClaimedTurn, maxTextLength } from './wire.js';

/** How a turn ended for this handler. */
export interface Ended {
  outcome: 'completed' | 'failed' | 'lost';
  /** Why it did not complete. */
  error?: unknown;
}

interface Failure {
  code: string;
  message: string;
}

/**
 * Runs one turn. Never rejects; resolves when the handler's code has returned, also where the turn was lost meanwhile.
 *
 * @param stopped aborted when the turn is to be left to another attempt, which begins within a lease: code that ignores
 *   its signal is not waited for
 */
export async function runTurn(
  http: Http,
  turn: ClaimedTurn,
  { handle, stopped }: { handle: HandleTurn; stopped: AbortSignal },
): Promise<Ended> {
  const lease = keepLease(http, turn);
  const report = async (route: 'complete' | 'fail', body: object, until = lease.over) => {
    const ask = { method: 'POST', path: `${attemptPath(turn)}/${route}`, token: turn.leaseToken, json: body } as const;
    await http.repeat(ask, until);
  };
  const fail = ({ code, message }: Failure, until?: AbortSignal) =>
    report('fail', { failure: { code, message: message.slice(0, 2000) } }, until);

  async function work(): Promise<Ended> {
    try {
      const result: unknown = await handle(forHandler(turn), turnContext(http, turn, lease));
      lease.signal.throwIfAborted();
      const text = typeof result === 'string' ? result : '';
      if (text.length > maxTextLength) throw new TooLong(text.length);
      await report('complete', { output: { text } });
      return { outcome: 'completed' };
    } catch (error) {
      if (lease.signal.aborted) return { outcome: 'lost', error: lease.signal.reason };
      await fail(failureOf(error));
      return { outcome: 'failed', error };
    }
  }

  /** Reported before the code is notified, so that nothing it then does counts as its own failure. */
  async function leave(): Promise<Ended> {
    const until = AbortSignal.any([lease.over, AbortSignal.timeout(turn.leaseMs)]);
    try {
      await fail({ code: 'worker-shutdown', message: 'The handler was stopped before the turn ended.' }, until);
    } catch {
      // The report was refused, or the attempt was over: the next one begins when the lease has run out.
    }
    lease.lose('The handler was stopped.');
    return { outcome: 'lost', error: lease.signal.reason };
  }

  const left = Promise.withResolvers<Ended>();
  const onStop = () => left.resolve(leave());
  try {
    if (stopped.aborted) return await leave();
    stopped.addEventListener('abort', onStop, { once: true });
    return await Promise.race([work(), left.promise]);
  } catch (error) {
    return { outcome: 'lost', error };
  } finally {
    stopped.removeEventListener('abort', onStop);
    await lease.release();
  }
}

class TooLong extends RangeError {
  override readonly name = 'TooLong';

  constructor(length: number) {
    super(`The text of a turn may have ${String(maxTextLength)} characters, and this one has ${String(length)}.`);
  }
}

/** A turn without its secrets. */
function forHandler({ leaseToken: _lease, toolToken: _tool, leaseMs: _leaseMs, ...turn }: ClaimedTurn): Turn {
  return turn;
}

function failureOf(error: unknown): Failure {
  const message = messageOf(error);
  if (error instanceof RetryLater) return { code: 'provider-unavailable', message };
  if (error instanceof TooLong) return { code: 'output-too-large', message };
  if (error instanceof SuzumioError && error.code === 'journal-mismatch') return { code: error.code, message };
  return { code: 'handler-failed', message: error instanceof Error ? `${error.name}: ${message}` : message };
}
