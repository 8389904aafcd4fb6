import { describe, expect, test } from '@jest/globals';
import { type CaptureRequest, maxNamedSteps } from '@suzumio/protocol/attempts';
import { HttpRefusal, HttpUnavailable } from '@suzumio/protocol/http-failures';
import { maxUncapturedChars } from '@suzumio/protocol/model-chat';
import { createMetrics } from '@suzumio/runtime/observability/metrics';
import { silentLogger } from '@suzumio/runtime/observability/logger';
import { LiveCaptures, type LiveCapturesOptions } from '../src/attempt/live-captures.js';
import { StopSwitch } from '../src/attempt/stop-switch.js';
import { WorkspaceTooLarge, WorkspaceUnreadable } from '../src/workspace/workspace-errors.js';

const snapshot = 'a'.repeat(64);

/** Captures of a workspace with one new file. */
function capturesOf({
  client = {},
  capture,
}: {
  client?: Partial<LiveCapturesOptions['client']>;
  capture?: LiveCapturesOptions['workspace']['capture'];
} = {}) {
  const committed: CaptureRequest[] = [];
  const stop = new StopSwitch();
  const metrics = createMetrics('turn-worker');
  const captures = new LiveCaptures({
    workspace: {
      capture:
        capture ??
        (async ({ store }) => {
          await store({ sha256: 'b'.repeat(64), sizeBytes: 3, bytes: new Uint8Array(3) });
          return { id: snapshot, leftOut: { count: 1, names: ['pipe'] } };
        }),
    },
    whileReadable: (work) => work(),
    client: {
      capture: (request) => {
        committed.push(request);
        return Promise.resolve();
      },
      mark: () => Promise.resolve(),
      hasContent: () => Promise.resolve(false),
      putContent: () => Promise.resolve(),
      ...client,
    },
    stop,
    captureMs: 60_000,
    logger: silentLogger(),
    metrics,
    now: () => 0,
  });
  return { captures, committed, stop, metrics };
}

const refusal = (status: number, code: string) => () =>
  Promise.reject(
    new HttpRefusal(`refused: ${code}`, {
      status,
      problem: { code, detail: `refused: ${code}` },
    }),
  );

describe('a capture while the turn runs', () => {
  test('is committed with its steps, under the next number, and counted with what it uploaded', async () => {
    const { captures, committed, metrics } = capturesOf();
    await captures.capture(['0.0', '0.1']);
    await captures.capture(['1.0']);
    expect(committed).toEqual([
      { number: 1, snapshot, steps: ['0.0', '0.1'] },
      { number: 2, snapshot, steps: ['1.0'] },
    ]);
    expect(captures.leftOut).toEqual({ count: 1, names: ['pipe'] });
    const shown = await metrics.registry.metrics();
    expect(shown).toMatch(/suzumio_captures_total{outcome="taken",.*} 2/);
    expect(shown).toMatch(/suzumio_captured_bytes_total{.*} 6/);
    expect(shown).toMatch(/suzumio_capture_duration_seconds_count{.*} 2/);
  });

  test('is committed in parts where there are more steps than one request may name', async () => {
    const { captures, committed } = capturesOf();
    await captures.capture(Array.from({ length: maxNamedSteps + 1 }, (_, n) => `${String(n)}.0`));
    expect(committed.map(({ number, steps }) => [number, steps.length])).toEqual([
      [1, maxNamedSteps],
      [2, 1],
    ]);
  });

  test('is sent again while the ToolHost does not answer', async () => {
    let failures = 2;
    const { captures, stop } = capturesOf({
      client: {
        capture: () => (failures-- > 0 ? Promise.reject(new HttpUnavailable('away')) : Promise.resolve()),
      },
    });
    await captures.capture(['0.0']);
    expect(stop.reason).toBeUndefined();
  });

  test.each([
    ['has no room in a quota', { client: { putContent: refusal(403, 'quota-exceeded') } }, 'quota-exceeded'],
    ['is refused room that the disk keeps free', { client: { putContent: refusal(507, 'disk-reserve') } }, 'disk-full'],
    ['meets a disk that is full', { client: { putContent: refusal(507, 'disk-full') } }, 'disk-full'],
    ['is refused for another reason', { client: { putContent: refusal(400, 'invalid-request') } }, 'worker-lost'],
  ])('stops the attempt, with the reason, when it %s', async (_what, broken, code) => {
    const { captures, stop, committed, metrics } = capturesOf(broken);
    await expect(captures.capture(['0.0'])).rejects.toThrow();
    await captures.close();
    expect(stop.reason).toBe('capture-failed');
    expect(stop.abandoned.aborted).toBe(false);
    expect(captures.failure).toMatchObject({ code });
    expect(committed).toEqual([]);
    expect(await metrics.registry.metrics()).toMatch(/suzumio_captures_total{outcome="failed",.*} 1/);
  });

  test('of a workspace that is too large says so, within what a header holds, and the attempt goes on', async () => {
    const { captures, stop, committed, metrics } = capturesOf({
      capture: () => Promise.reject(new WorkspaceTooLarge(`More than may be.${' Very much more.'.repeat(1_000)}`)),
    });
    const told = await captures.capture(['0.0']);
    expect(told).toMatch(
      /^More than may be\. .*nothing leaves your sandbox.* make the calls again that were refused\.$/,
    );
    expect(told?.length).toBeLessThanOrEqual(maxUncapturedChars);
    expect([stop.reason, captures.failure, committed]).toEqual([undefined, undefined, []]);
    expect(await metrics.registry.metrics()).toMatch(/suzumio_captures_total{outcome="failed",.*} 1/);
  });

  test('of a workspace that cannot be read says so, and the attempt goes on', async () => {
    const { captures, stop, committed } = capturesOf({
      capture: () => Promise.reject(new WorkspaceUnreadable('The file "a" cannot be read.')),
    });
    expect(await captures.capture(['0.0'])).toMatch(
      /^The file "a" cannot be read\. So it cannot be captured.* Make it readable, or remove it, with the tools of your sandbox; then make/,
    );
    expect([stop.reason, captures.failure, committed]).toEqual([undefined, undefined, []]);
  });

  test.each(['attempt-over', 'token-rejected'])('of an attempt that is over abandons it (%s)', async (code) => {
    const { captures, stop } = capturesOf({ client: { capture: refusal(409, code) } });
    await expect(captures.capture(['0.0'])).rejects.toThrow(code);
    expect(stop.reason).toBe('cancelled');
    expect(captures.failure).toBeUndefined();
  });

  test('does not begin once the sandbox has ended, and one that runs is waited for', async () => {
    const held = Promise.withResolvers<undefined>();
    const { captures, committed } = capturesOf({
      capture: () => held.promise.then(() => ({ id: snapshot })),
    });
    const capturing = captures.capture(['0.0']);
    const closed = captures.close();
    await expect(captures.capture(['1.0'])).rejects.toThrow('has ended');
    held.resolve(undefined);
    await closed;
    expect(committed).toEqual([{ number: 1, snapshot, steps: ['0.0'] }]);
    await capturing;
  });

  test('is given up when the attempt is stopped, which is then no failure of its own', async () => {
    const { captures, stop } = capturesOf({
      capture: ({ signal }) =>
        new Promise((_resolve, reject) => {
          signal?.addEventListener('abort', () => reject(signal.reason as Error));
        }),
    });
    const capturing = captures.capture(['0.0']);
    stop.stop('time-limit');
    await expect(capturing).rejects.toThrow('time-limit');
    await captures.close();
    expect(stop.reason).toBe('time-limit');
    expect(captures.failure).toBeUndefined();
  });
});
