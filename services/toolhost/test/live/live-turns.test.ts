import { describe, expect, test } from '@jest/globals';
import type { LiveFrame } from '@suzumio/protocol/live';
import { LiveTurns } from '../../src/live/live-turns.js';

const of = { project: 'team', turn: 'turn_1' };
const none = () => [];
const textOf = (frames: readonly LiveFrame[] | undefined) =>
  frames?.map((frame) => ('text' in frame ? frame.text : `[${frame.bytes}]`)).join('');

describe('a turn that somebody follows', () => {
  test('is told in order, each follower from when it came', async () => {
    const live = new LiveTurns();
    const first = live.follow(of, none);
    const answer = live.text(of, '0');
    answer.write('One ');
    answer.write('two ');
    expect(await first.next()).toEqual([{ kind: 'model', step: '0', text: 'One two ' }]);
    const second = live.follow(of, none);
    live.output(of, { skipped: 7, output: [{ step: '0.0', stream: 'stdout', text: 'half a line\nthree\n' }] });
    const rest: LiveFrame[] = [
      { kind: 'gap', bytes: 7 },
      { kind: 'output', step: '0.0', stream: 'stdout', text: ' a line\nthree\n' },
    ];
    expect(await first.next()).toEqual(rest);
    expect(await second.next()).toEqual(rest);
    live.end(of);
    expect(await first.next()).toBeUndefined();
    expect(first.isOver).toBe(true);
    expect(live.isFollowed(of)).toBe(false);
  });

  test('takes no more memory than it may, however much is printed and whoever does not read', async () => {
    const live = new LiveTurns({ turnBytes: 64 * 1024 });
    const lazy = live.follow(of, none);
    const keen = live.follow(of, none);
    const text = 'a line of a build that prints a lot\n'.repeat(400);
    let [printed, most] = [0, 0];
    while (printed < 100 * 1024 * 1024) {
      live.output(of, { skipped: 0, output: [{ step: '0.0', stream: 'stdout', text }] });
      printed += text.length;
      most = Math.max(most, live.bytes);
    }
    live.output(of, { skipped: 0, output: [{ step: '0.0', stream: 'stdout', text: 'the last line\n' }] });
    expect(most).toBeLessThanOrEqual(64 * 1024);
    for (const follower of [lazy, keen]) {
      const [gap, ...frames] = (await follower.next()) ?? [];
      expect(gap?.kind).toBe('gap');
      const said = textOf(frames) ?? '';
      expect(said.endsWith('the last line\n')).toBe(true);
      const [, lost] = /^\[(\d+)\]$/.exec(textOf(gap ? [gap] : []) ?? '') ?? [];
      expect(Number(lost) + said.length).toBe(printed + 'the last line\n'.length);
    }
  });

  test('is followed by so many only, and forgotten when they have left', () => {
    const live = new LiveTurns({ followers: 3, followersOfTurn: 2 });
    const other = { project: 'team', turn: 'turn_2' };
    const followers = [live.follow(of, none), live.follow(of, none)];
    expect(() => live.follow(of, none)).toThrow(expect.objectContaining({ code: 'live-full' }));
    followers.push(live.follow(other, none));
    expect(() => live.follow({ project: 'team', turn: 'turn_3' }, none)).toThrow('running turns');
    for (const follower of followers) {
      follower.close();
      follower.close();
    }
    expect([live.isFollowed(of), live.isFollowed(other), live.bytes]).toEqual([false, false, 0]);
    live.follow(of, none);
  });

  test('costs nothing while nobody does', () => {
    const live = new LiveTurns();
    const answer = live.text(of, '0');
    answer.write('One two');
    answer.end();
    expect(live.bytes).toBe(0);
  });

  test('shows no half of a secret to one who comes in its middle', async () => {
    const live = new LiveTurns();
    const answer = live.text(of, '0');
    answer.write('The key is sk-0123');
    const follower = live.follow(of, () => ['sk-0123456789']);
    answer.write('456789, and so on ');
    expect(textOf(await follower.next())).toBe(' and so on ');
  });

  test('is not over when its ToolHost ends', async () => {
    const live = new LiveTurns();
    const follower = live.follow(of, none);
    live.close();
    expect(await follower.next()).toBeUndefined();
    expect(follower.isOver).toBe(false);
  });
});
