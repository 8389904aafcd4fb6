import { describe, expect, test } from '@jest/globals';
import { overTurnsPerHour, turnsPerHour } from '@suzumio/core/mail/turns-per-hour';
import type { ProjectConfig } from '@suzumio/contract/model/project-config';
import fc from '../../../../test/support/fast-check.js';

const hour = 3_600_000;
const now = 10 * hour;

type Limit = number | 'unlimited' | undefined;

function config(mode: 'ai' | 'mock', project: Limit, agent: Limit, backend?: 'external'): ProjectConfig {
  return {
    backend: { runner: { mode } },
    scheduler: { maxTurnsPerHour: project },
    agents: { ada: { maxTurnsPerHour: agent, backend } },
  } as unknown as ProjectConfig;
}

describe('how many turns an agent may begin in an hour', () => {
  test.each<['ai' | 'mock', Limit, Limit, number | undefined]>([
    ['ai', undefined, undefined, 120],
    ['mock', undefined, undefined, undefined],
    ['ai', 10, undefined, 10],
    ['mock', 10, undefined, 10],
    ['ai', 'unlimited', undefined, undefined],
    ['ai', 10, 500, 500],
    ['ai', 10, 'unlimited', undefined],
    ['ai', 'unlimited', 5, 5],
    ['mock', undefined, 5, 5],
  ])('in mode %s, %s for the project and %s for the agent make %s', (mode, project, agent, expected) => {
    expect(turnsPerHour(config(mode, project, agent), 'ada')).toBe(expected);
  });
});

test.each<[Limit, Limit, number | undefined]>([
  [undefined, undefined, 120],
  [10, undefined, 10],
  [undefined, 'unlimited', undefined],
])('a handler’s agent is treated as one with a model: %s and %s make %s', (project, agent, expected) => {
  expect(turnsPerHour(config('mock', project, agent, 'external'), 'ada')).toBe(expected);
});

describe('an agent that has begun as many', () => {
  test.each<[string, number, number, number | undefined, boolean]>([
    ['has had none', 3, 0, undefined, false],
    ['has had fewer', 3, 2, undefined, false],
    ['had as many in a minute', 3, 3, now - 60_000, true],
    ['had as many in just less than an hour', 3, 3, now - hour + 1, true],
    ['had as many in an hour', 3, 3, now - hour, false],
    ['had more, the last ones slowly', 3, 90, now - 2 * hour, false],
    ['had as many, but some of them before it was resumed', 3, 2, now - 60_000, false],
    ['may have one, and had it now', 1, 1, now, true],
  ])('%s', (_name, limit, count, limitBackAtMs, over) => {
    expect(overTurnsPerHour(limit, { count, limitBackAtMs }, now)).toBe(over);
  });

  test('is the one of whom that many turns lie within the last hour', () => {
    const turns = fc.array(fc.integer({ min: 0, max: now }), { maxLength: 30 });
    fc.assert(
      fc.property(turns, fc.integer({ min: 1, max: 12 }), fc.nat(30), (times, limit, resumedAfter) => {
        const sorted = [...times].sort((a, b) => a - b);
        const from = Math.min(resumedAfter, sorted.length);
        const within = sorted.slice(from).filter((at) => at > now - hour).length;
        const recent = { count: sorted.length - from, limitBackAtMs: sorted[sorted.length - limit] };
        expect(overTurnsPerHour(limit, recent, now)).toBe(within >= limit);
      }),
    );
  });
});
