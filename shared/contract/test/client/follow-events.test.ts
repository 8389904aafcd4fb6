import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { followEvents } from '../../src/client/follow-events.js';
import { SuzumioError } from '../../src/errors/suzumio-error.js';

const text = new TextEncoder();
const event = (seq: number) => `id: 1-${String(seq)}\nevent: message.created\ndata: {"seq":${String(seq)}}\n\n`;

/** A stream that says these pieces, and then ends, or breaks off, or stays open until it is aborted. */
type Script = { pieces: string[]; then?: 'ends' | 'breaks' | 'stays' } | Error;

/** An API whose streams say one script after the other; it knows from where each was asked for. */
function scripted(...scripts: Script[]) {
  const asked: (string | undefined)[] = [];
  const streamEvents = (
    { query }: { query?: { after?: string | undefined } },
    { signal }: { signal?: AbortSignal | undefined } = {},
  ) => {
    asked.push(query?.after);
    const script = scripts[asked.length - 1] ?? new Error(`asked ${String(asked.length)} times`);
    return script instanceof Error ? Promise.reject(script) : Promise.resolve(say(script, signal));
  };
  return { asked, api: { streamEvents } as unknown as Parameters<typeof followEvents>[0] };
}

async function* say({ pieces, then = 'ends' }: Exclude<Script, Error>, signal?: AbortSignal) {
  for (const piece of pieces) yield text.encode(piece);
  if (then === 'breaks') throw new SuzumioError('server-unreachable', 'The connection was reset.');
  if (then === 'ends') return;
  await new Promise((_resolve, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason as Error));
  });
}

/** Lets time pass for whatever waits for it. */
async function pass(ms: number): Promise<void> {
  await jest.advanceTimersByTimeAsync(ms);
}

afterEach(() => {
  jest.useRealTimers();
});

describe('following events', () => {
  test('gives each once, however they are cut, and goes on where a connection was lost', async () => {
    jest.useFakeTimers();
    const { api, asked } = scripted(
      { pieces: ['retry: 1000\n\n', event(1).slice(0, 9), event(1).slice(9) + event(2), event(3).slice(0, 30)] },
      new SuzumioError('server-unreachable', 'Nobody answers.'),
      { pieces: [':\n\n', event(3)], then: 'breaks' },
      { pieces: [event(4)], then: 'stays' },
    );
    const over = new AbortController();
    const [seen, lost]: [number[], number[]] = [[], []];
    const followed = (async () => {
      const options = { project: 'news', signal: over.signal, onLost: () => lost.push(asked.length) };
      for await (const { seq } of followEvents(api, options)) seen.push(seq);
    })();
    await pass(30_000);
    expect(seen).toEqual([1, 2, 3, 4]);
    expect(asked).toEqual([undefined, '1-2', '1-2', '1-3']);
    // Once for each loss, not for each try.
    expect(lost).toEqual([1, 3]);
    over.abort();
    await followed;
  });

  test('takes a connection for dead that says nothing for a minute, though the server speaks every 15 s', async () => {
    jest.useFakeTimers();
    const { api, asked } = scripted({ pieces: [event(1)], then: 'stays' }, { pieces: [event(2)], then: 'stays' });
    const events = followEvents(api, { project: 'news', after: '1-0' });
    expect((await events.next()).value?.seq).toBe(1);
    const second = events.next();
    await pass(59_000);
    expect(asked).toEqual(['1-0']);
    await pass(3_000);
    expect((await second).value?.seq).toBe(2);
    expect(asked).toEqual(['1-0', '1-1']);
    await events.return();
  });

  test('says that everything comes anew, and goes on from there', async () => {
    jest.useFakeTimers();
    const { api, asked } = scripted(
      { pieces: ['id: 2-0\nevent: reset\ndata: {"epoch":2}\n\n'] },
      { pieces: [event(1)], then: 'stays' },
    );
    let resets = 0;
    const events = followEvents(api, { project: 'news', after: '1-7', onReset: () => (resets += 1) });
    const first = events.next();
    await pass(2_000);
    expect((await first).value?.seq).toBe(1);
    expect([resets, asked]).toEqual([1, ['1-7', '2-0']]);
    await events.return();
  });

  test('ends with the project, and where the server refuses', async () => {
    const deleted = scripted({ pieces: ['event: deleted\ndata: {}\n\n'] });
    await expect(followEvents(deleted.api, { project: 'news' }).next()).rejects.toMatchObject({
      code: 'project-unknown',
    });
    const refused = scripted(new SuzumioError('forbidden', 'The token is for other projects.'));
    await expect(followEvents(refused.api, { project: 'news' }).next()).rejects.toMatchObject({ code: 'forbidden' });
    expect(refused.asked).toHaveLength(1);
  });

  test('asks for nothing where it was ended before', async () => {
    const { api, asked } = scripted();
    const { done } = await followEvents(api, { project: 'news', signal: AbortSignal.abort() }).next();
    expect([done, asked]).toEqual([true, []]);
  });
});
