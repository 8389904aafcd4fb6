import { doorAwayExitCode } from '@suzumio/protocol/door';
import type { Failure } from '@suzumio/protocol/failure-codes';
import type { TurnOutput } from '@suzumio/protocol/runner';
import { withoutNode } from '../engine/docker/engine-errors.js';
import type { Disturbance, SandboxEnd } from '../engine/turn-engine.js';
import type { StopReason } from './stop-switch.js';
import type { OutputRead } from './turn-directory.js';

/** Everything known about a sandbox's end. */
export interface Ending {
  end: SandboxEnd;
  output: OutputRead;
  stopped: StopReason | undefined;
  /** Why the workspace could not be captured, if that ended the attempt. */
  captureFailure: Failure | undefined;
  /** How the directories exceed their limits, if they do. */
  tooLarge: string | undefined;
  /** Whether the worker's disk was full at the end, so that writing to it may have failed. */
  diskWasShort: boolean;
  /** An external cause that may have ended it. The worker's own kills, which `stopped` explains, appear here, too. */
  disturbed: Disturbance | undefined;
  /** Whether this worker is shutting down, perhaps with its host. */
  stopping: boolean;
  /** The end of the log. */
  log: string;
  timeoutMs: number;
  memoryBytes: number;
}

export type Verdict = { kind: 'completed'; output: TurnOutput } | { kind: 'failed'; failure: Failure };

/**
 * Judges how a sandbox ended.
 *
 * A valid output with exit code 0 is a completed turn, even if a child of the runner ran out of memory or the time
 * limit passed in the same moment. An output also counts if its container had to be killed because it did not exit. A
 * failure that the runner reported stands, whatever its exit code.
 */
export function judgeEnding(ending: Ending): Verdict {
  const { end, output, stopped } = ending;
  const { failure: told, ...completed } = output.kind === 'valid' ? output.output : {};
  if ('text' in completed && told === undefined && (end.exitCode === 0 || stopped === 'lingering')) {
    return { kind: 'completed', output: completed };
  }
  const { code, message } = told && (stopped ?? 'lingering') === 'lingering' ? told : explain(ending);
  return {
    kind: 'failed',
    failure: {
      code,
      message: message.slice(0, 2000),
      ...(end.vanished ? {} : { exitCode: end.exitCode }),
      ...(end.signal ? { signal: end.signal } : {}),
      ...(end.oomKilled === undefined ? {} : { oomKilled: end.oomKilled }),
    },
  };
}

function explain({
  end,
  output,
  stopped,
  captureFailure,
  tooLarge,
  diskWasShort,
  disturbed,
  stopping,
  log,
  timeoutMs,
  memoryBytes,
}: Ending): Pick<Failure, 'code' | 'message'> {
  if (stopped === 'time-limit') {
    return {
      code: 'time-limit',
      message: `The turn took longer than its limit of ${timeoutMs} ms and was killed.${lastLines(log)}`,
    };
  }
  if (stopped === 'shutdown') {
    return { code: 'worker-shutdown', message: 'The worker was shut down while the turn ran.' };
  }
  if (captureFailure) return captureFailure;
  if (tooLarge !== undefined) {
    return { code: 'workspace-too-large', message: `The turn wrote more than it may: ${tooLarge}.` };
  }
  if (stopped === 'disk-full') {
    return { code: 'disk-full', message: "The worker's disk was full, and the turn took more of it than others." };
  }
  if (end.vanished) {
    return { code: 'container-vanished', message: 'The container was removed by somebody else while the turn ran.' };
  }
  if (end.withoutNode) return { code: 'image-without-node', message: withoutNode };
  if (end.exitCode !== 0 && (end.oomKilled || isHeapLimit(end, log))) {
    return {
      code: 'out-of-memory',
      message: `The turn ran out of its ${memoryBytes} bytes of memory.${lastLines(log)}`,
    };
  }
  if (stopped === undefined && stopping && isSignalDeath(end)) {
    return { code: 'worker-shutdown', message: 'The turn was ended by a signal while the worker was shut down.' };
  }
  if (stopped === undefined && disturbed !== undefined) {
    return { code: 'container-killed', message: `${disturbances[disturbed]}${lastLines(log)}` };
  }
  if (end.exitCode === doorAwayExitCode) {
    return {
      code: 'worker-lost',
      message: `The runner could not reach the ToolHost through its door.${lastLines(log)}`,
    };
  }
  if (diskWasShort) {
    return { code: 'disk-full', message: `The turn failed while the worker's disk was full.${lastLines(log)}` };
  }
  if (end.exitCode !== 0) {
    return { code: 'non-zero-exit', message: `The runner ended with exit code ${end.exitCode}.${lastLines(log)}` };
  }
  switch (output.kind) {
    case 'too-large':
      return { code: 'output-too-large', message: `output.json has more than ${output.maxBytes} bytes.` };
    case 'invalid':
      return { code: 'output-invalid', message: `output.json ${output.why}.` };
    case 'missing':
    case 'valid':
      return { code: 'output-missing', message: `The runner ended without leaving an output.json.${lastLines(log)}` };
  }
}

const disturbances: Record<Disturbance, string> = {
  'engine-away': 'The turn ended while the container engine was away, as when it restarts.',
  signalled: 'Somebody else had the container engine send a signal to the turn, and it ended.',
};

/** Whether a signal ended it, or the engine does not know what did (255). A turn can end like that on its own, too. */
export function isSignalDeath({ exitCode, oomKilled }: SandboxEnd): boolean {
  return exitCode > 128 && !oomKilled;
}

/** V8's heap limit aborts with SIGABRT, which no engine reports as out of memory. */
function isHeapLimit({ exitCode }: SandboxEnd, log: string): boolean {
  return exitCode === 134 && /heap out of memory/.test(log);
}

const maxLines = 10;
const maxCharacters = 1000;

function lastLines(log: string): string {
  const lines = log.trimEnd().split('\n').slice(-maxLines).join('\n').slice(-maxCharacters).trim();
  return lines === '' ? '' : ` Its last words: ${lines}`;
}
