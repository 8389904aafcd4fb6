import { describe, expect, test } from '@jest/globals';
import { type Candidate, leastLoaded } from '@suzumio/core/mail/least-loaded';
import fc from '../../../../test/support/fast-check.js';

const idle: Candidate = { id: 'm', unread: 1, unfinishedTasks: 1, working: false, idleSinceMs: 1_000 };

describe('the least loaded of some agents', () => {
  test.each<[string, Partial<Candidate>, Partial<Candidate>]>([
    ['has the least unread mail', { unread: 0, unfinishedTasks: 9, working: true }, { unread: 1, unfinishedTasks: 0 }],
    ['then has the fewest unfinished tasks', { unfinishedTasks: 0, working: true }, { unfinishedTasks: 1 }],
    ['then has been idle longest', { idleSinceMs: 999, id: 'z' }, { idleSinceMs: 1_000 }],
    ['is one that rests rather than one that works', { idleSinceMs: 1_000, id: 'z' }, { working: true }],
    ['last has the id that comes first', { id: 'a' }, { id: 'b' }],
    ['last has the id that comes first, among those that work', { id: 'a', working: true }, { id: 'b', working: true }],
  ])('%s', (_rule, better, worse) => {
    const [first, second] = [
      { ...idle, ...better },
      { ...idle, id: 'n', ...worse },
    ];
    expect(leastLoaded([first, second])).toBe(first.id);
    expect(leastLoaded([second, first])).toBe(first.id);
  });

  test('has never had a turn, before one that has rested for ever so long', () => {
    const fresh: Candidate = { id: 'z', unread: 1, unfinishedTasks: 1, working: false };
    expect(leastLoaded([{ ...idle, idleSinceMs: 0 }, fresh])).toBe('z');
    expect(leastLoaded([fresh, { ...fresh, id: 'y' }])).toBe('y');
  });

  test('is the same in whatever order they are looked at, and none has less unread mail', () => {
    const candidate = fc.record(
      {
        id: fc.stringMatching(/^[a-z]{1,3}$/),
        unread: fc.nat({ max: 2 }),
        unfinishedTasks: fc.nat({ max: 2 }),
        working: fc.boolean(),
        idleSinceMs: fc.nat({ max: 2 }),
      },
      { requiredKeys: ['id', 'unread', 'unfinishedTasks', 'working'] },
    );
    const rosters = fc.uniqueArray(candidate, { minLength: 1, selector: ({ id }) => id });
    fc.assert(
      fc.property(rosters, fc.nat(), (roster, turnBy) => {
        const at = turnBy % roster.length;
        const turned = [...roster.slice(at), ...roster.slice(0, at)];
        const chosen = leastLoaded(roster as [Candidate]);
        expect(leastLoaded(turned as [Candidate])).toBe(chosen);
        const unread = roster.find(({ id }) => id === chosen)?.unread;
        expect(unread).toBe(Math.min(...roster.map((one) => one.unread)));
      }),
    );
  });
});
