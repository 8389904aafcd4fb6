import { describe, expect, test } from '@jest/globals';
import { type Ending, judgeEnding } from '../src/attempt/judge-ending.js';

const output = { kind: 'valid', output: { text: 'fine' } } as const;
const told: Ending['output'] = {
  kind: 'valid',
  output: { text: '', failure: { code: 'answer-refused', message: 'The model refused.' } },
};
const good: Ending = {
  end: { exitCode: 0 },
  output,
  stopped: undefined,
  captureFailure: undefined,
  tooLarge: undefined,
  diskWasShort: false,
  disturbed: undefined,
  stopping: false,
  log: '',
  timeoutMs: 1_000,
  memoryBytes: 1_000_000,
};

describe('what an ending means', () => {
  const completed: [string, Partial<Ending>][] = [
    ['a valid output and exit code 0', {}],
    ['out of memory in a child', { end: { exitCode: 0, oomKilled: true } }],
    ['an end in the moment of the time limit', { stopped: 'time-limit' }],
    ['killed because it lingered', { end: { exitCode: 137 }, stopped: 'lingering' }],
    ['a good end while the disk was full', { diskWasShort: true }],
    ['a good end while the engine was away', { disturbed: 'engine-away' }],
    ['a good end of a turn that somebody else sent a signal', { disturbed: 'signalled' }],
  ];
  test.each(completed)('completed: %s', (_what, ending) => {
    expect(judgeEnding({ ...good, ...ending })).toEqual({ kind: 'completed', output: { text: 'fine' } });
  });

  const failed: [string, string, Partial<Ending>][] = [
    [
      'time-limit',
      'killed at the limit',
      { end: { exitCode: 137, oomKilled: true }, stopped: 'time-limit', output: { kind: 'missing' } },
    ],
    ['worker-shutdown', 'killed by a shutdown', { end: { exitCode: 137 }, stopped: 'shutdown' }],
    [
      'workspace-too-large',
      'killed for its size',
      { end: { exitCode: 137 }, stopped: 'workspace-too-large', tooLarge: 'more than 1 bytes' },
    ],
    [
      'quota-exceeded',
      'killed because its workspace could not be captured',
      {
        end: { exitCode: 137 },
        stopped: 'capture-failed',
        captureFailure: { code: 'quota-exceeded', message: 'No room for it is left.' },
        output: { kind: 'missing' },
      },
    ],
    ['workspace-too-large', 'ended by its file size limit', { end: { exitCode: 153 }, tooLarge: 'more than 1 bytes' }],
    ['disk-full', 'ended to make room', { end: { exitCode: 137 }, stopped: 'disk-full', output: { kind: 'missing' } }],
    ['disk-full', 'could not write, perhaps', { end: { exitCode: 1 }, diskWasShort: true }],
    ['disk-full', 'an output cut short', { output: { kind: 'invalid', why: 'is empty' }, diskWasShort: true }],
    ['workspace-too-large', 'filled the disk itself', { tooLarge: 'more', end: { exitCode: 1 }, diskWasShort: true }],
    ['container-vanished', 'removed', { end: { exitCode: -1, vanished: true } }],
    ['image-without-node', 'no Node', { end: { exitCode: 127, withoutNode: true } }],
    ['out-of-memory', 'out of memory', { end: { exitCode: 137, oomKilled: true } }],
    ['out-of-memory', "V8's limit", { end: { exitCode: 134 }, log: 'FATAL ERROR: JavaScript heap out of memory' }],
    ['non-zero-exit', 'another abort', { end: { exitCode: 134 } }],
    ['non-zero-exit', 'a signal that the turn sent itself', { end: { exitCode: 137 } }],
    ['non-zero-exit', 'another signal of its own', { end: { exitCode: 143 } }],
    ['container-killed', 'stopped by whoever may use the engine', { end: { exitCode: 143 }, disturbed: 'signalled' }],
    ['container-killed', 'stopped, and it had a word to say', { end: { exitCode: 1 }, disturbed: 'signalled' }],
    [
      'container-killed',
      'stopped, and it ended politely',
      { end: { exitCode: 0 }, disturbed: 'signalled', output: { kind: 'missing' } },
    ],
    ['container-killed', 'gone with the engine', { end: { exitCode: 137 }, disturbed: 'engine-away' }],
    [
      'container-killed',
      'gone with the engine, which lost its code',
      { end: { exitCode: 255 }, disturbed: 'engine-away' },
    ],
    ['worker-shutdown', 'gone with the host', { end: { exitCode: 143 }, stopping: true }],
    [
      'worker-shutdown',
      'gone with the host and its engine',
      { end: { exitCode: 137 }, stopping: true, disturbed: 'engine-away' },
    ],
    ['non-zero-exit', 'a failure of its own while the worker stops', { end: { exitCode: 1 }, stopping: true }],
    [
      'out-of-memory',
      'out of memory while the worker stops',
      { end: { exitCode: 137, oomKilled: true }, stopping: true },
    ],
    [
      'time-limit',
      'killed at the limit, which the engine tells of as well',
      { end: { exitCode: 137 }, stopped: 'time-limit', disturbed: 'signalled' },
    ],
    ['worker-lost', 'its door was away', { end: { exitCode: 75 } }],
    ['non-zero-exit', 'an exit code, whatever the output', { end: { exitCode: 1 } }],
    ['answer-refused', 'what the runner says', { end: { exitCode: 1 }, output: told }],
    ['answer-refused', 'what the runner says, with exit code 0', { output: told }],
    [
      'answer-refused',
      'what the runner said before it lingered',
      { end: { exitCode: 137 }, output: told, stopped: 'lingering' },
    ],
    [
      'time-limit',
      'its clock, whatever the runner said',
      { end: { exitCode: 137 }, output: told, stopped: 'time-limit' },
    ],
    ['output-missing', 'no output', { output: { kind: 'missing' } }],
    ['output-too-large', 'too much', { output: { kind: 'too-large', maxBytes: 7 } }],
    ['output-invalid', 'nonsense', { output: { kind: 'invalid', why: 'is not JSON' } }],
  ];
  test.each(failed)('%s: %s', (code, _what, ending) => {
    const verdict = judgeEnding({ ...good, ...ending });
    expect(verdict).toMatchObject({
      kind: 'failed',
      failure: { code, message: expect.stringMatching(/^[A-Zo].{10,}/) },
    });
  });

  test('the last words are bounded', () => {
    const log = Array.from({ length: 1_000 }, (_, i) => `line ${i} ${'x'.repeat(200)}`).join('\n');
    const verdict = judgeEnding({ ...good, end: { exitCode: 1 }, log });
    if (verdict.kind !== 'failed') throw new Error('completed');
    expect(verdict.failure.message).toContain('line 999');
    expect(verdict.failure.message.length).toBeLessThan(1_200);
  });
});
