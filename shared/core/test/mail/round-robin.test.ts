import { describe, expect, test } from '@jest/globals';
import { dealPlaces } from '@suzumio/core/mail/round-robin';
import fc, { caseCount } from '../../../../test/support/fast-check.js';

describe('dealing places', () => {
  test.each([
    ['no project waits', [], 3, {}, []],
    ['no place is free', ['a', 'b'], 0, {}, []],
    ['there are fewer places than projects', ['a', 'b', 'c'], 2, { a: 1, b: 1 }, ['a', 'b']],
    ['there is one for each', ['a', 'b', 'c'], 3, { a: 1, b: 1, c: 1 }, []],
    ['there are more', ['a', 'b', 'c'], 7, { a: 3, b: 2, c: 2 }, ['a']],
  ])('%s', (_what, line, places, shares, moved) => {
    const dealt = dealPlaces(line, places);
    expect(Object.fromEntries(dealt.shares)).toEqual(shares);
    expect(dealt.moved).toEqual(moved);
  });

  test('deals every place, as evenly as can be, those at the head of the line first', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.string(), { minLength: 1, maxLength: 20 }),
        fc.nat({ max: 100 }),
        (line, places) => {
          const { shares } = dealPlaces(line, places);
          const counts = line.map((project) => shares.get(project) ?? 0);
          expect(counts.reduce((sum, count) => sum + count, 0)).toBe(places);
          expect(counts).toEqual([...counts].sort((a, b) => b - a));
          expect((counts[0] ?? 0) - (counts.at(-1) ?? 0)).toBeLessThanOrEqual(1);
        },
      ),
    );
  });
});

/** What may happen to a cell: mail for an agent, or a worker that claims the next turn. */
type Happening = { project: number; agent: number; priority: number } | 'claim';

const happening: fc.Arbitrary<Happening> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ project: fc.nat({ max: 5 }), agent: fc.nat({ max: 11 }), priority: fc.nat({ max: 3 }) }),
  },
  { weight: 2, arbitrary: fc.constant('claim' as const) },
);

interface Turn {
  project: string;
  agent: number;
  priority: number;
}

/** A cell by the rule alone: the queue, the projects in line, and the turns of each that are not in the queue yet. */
class CellByRule {
  readonly queue: Turn[] = [];
  line: string[] = [];
  readonly queued = new Map<string, Turn[]>();

  constructor(private readonly slots: number) {}

  mail(turn: Turn): void {
    const turns = this.queued.get(turn.project) ?? [];
    const active = [...turns, ...this.queue].some(
      ({ project, agent }) => project === turn.project && agent === turn.agent,
    );
    if (active) return;
    this.queued.set(turn.project, [...turns, turn]);
    if (this.line.length === 0 && this.queue.length < this.slots) this.#deliver(turn.project, 1);
    else if (!this.line.includes(turn.project)) this.line.push(turn.project);
  }

  /** The next turn starts, and the place that it leaves is dealt. */
  claim(): Turn | undefined {
    const started = this.queue.shift();
    while (this.line.length > 0 && this.queue.length < this.slots) {
      const { shares, moved } = dealPlaces(this.line, this.slots - this.queue.length);
      this.line = [...this.line.filter((project) => !moved.includes(project)), ...moved];
      for (const [project, places] of shares) this.#deliver(project, places);
      this.line = this.line.filter((project) => (this.queued.get(project) ?? []).length > 0);
    }
    return started;
  }

  #deliver(project: string, places: number): void {
    const turns = [...(this.queued.get(project) ?? [])].sort((a, b) => a.priority - b.priority);
    this.queue.push(...turns.slice(0, places));
    this.queued.set(project, turns.slice(places));
  }
}

describe('a cell that deals its places so', () => {
  const run = (slots: number, happenings: readonly Happening[], check: (cell: CellByRule, started?: Turn) => void) => {
    const cell = new CellByRule(slots);
    for (const what of happenings) {
      if (what === 'claim') check(cell, cell.claim());
      else {
        cell.mail({ ...what, project: `p${what.project}` });
        check(cell);
      }
    }
  };
  const days = fc.tuple(fc.integer({ min: 1, max: 6 }), fc.array(happening, { maxLength: 400 }));

  test('lets a newly ready project wait for at most `slots + projects` starts', () => {
    fc.assert(
      fc.property(days, ([slots, happenings]) => {
        /** Starts since a project had turns and none of them has started. */
        const waited = new Map<string, number>();
        run(slots, happenings, (cell, started) => {
          const ready = new Set([...cell.queue.map(({ project }) => project), ...cell.line]);
          if (started) {
            for (const [project, starts] of waited) waited.set(project, starts + 1);
            expect(waited.get(started.project) ?? 0).toBeLessThanOrEqual(slots + 6);
            waited.delete(started.project);
          }
          for (const project of ready) if (!waited.has(project)) waited.set(project, 0);
        });
      }),
      { numRuns: caseCount(500) },
    );
  });

  test('never has more turns in the queue than slots, nor a free place while a project waits', () => {
    fc.assert(
      fc.property(days, ([slots, happenings]) => {
        run(slots, happenings, ({ queue, line }) => {
          expect(queue.length).toBeLessThanOrEqual(slots);
          if (line.length > 0) expect(queue).toHaveLength(slots);
        });
      }),
    );
  });

  test('puts the most urgent turn of a project on the queue first', () => {
    fc.assert(
      fc.property(days, ([slots, happenings]) => {
        run(slots, happenings, (cell, started) => {
          const last = started && cell.queue.at(-1);
          if (!last) return;
          const others = cell.queued.get(last.project) ?? [];
          expect(others.every(({ priority }) => priority >= last.priority)).toBe(true);
        });
      }),
    );
  });
});
