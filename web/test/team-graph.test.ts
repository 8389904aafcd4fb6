import { expect, test } from '@jest/globals';
import type { Agent, MailCount } from '@suzumio/sdk/client';
import { place } from '../src/pages/project/team/layout.js';
import { membersOf } from '../src/pages/project/team/members.js';

const agent = (id: string, role: string, change: Partial<Agent> = {}) =>
  ({ id, displayName: null, role, state: 'active', paused: null, activeTurn: null, unread: 0, ...change }) as Agent;
const many = (number: number, role: string, change: Partial<Agent> = {}) =>
  Array.from({ length: number }, (_, index) => agent(`${role}-${index + 1}`, role, change));
const mail = (sender: string, recipient: string, messages: number, lastAt = '2026-11-27T08:00:00.000Z') =>
  ({ sender, recipient, messages, lastAt }) as MailCount;
const drawn = (agents: readonly Agent[], ways: readonly MailCount[] = [], opened: string | null = null) => {
  const shown = membersOf('river', agents, { ways, opened });
  return {
    members: shown.members.map(({ name, role, mark, word }) => [name, role, mark, word].filter(Boolean).join('; ')),
    ways: shown.ways.map(({ from, to, messages }) => `${from} to ${to}: ${messages}`),
    hrefs: shown.members.map(({ href }) => href),
  };
};

test('a team of up to forty is drawn agent by agent', () => {
  const { members, ways } = drawn(many(40, 'worker'), [
    mail('worker-1', 'worker-2', 3),
    mail('worker-1', 'worker-1', 1),
  ]);
  expect(members).toHaveLength(41);
  expect(members[1]).toBe('worker-1; worker; quiet; quiet');
  expect(ways).toEqual(['worker-1 to worker-2: 3']);
});

test('a larger one is drawn by its roles, each with the state that is most urgent and all of its mail', () => {
  const agents = [
    agent('lead', 'editor'),
    ...many(40, 'worker', { unread: 1 }),
    agent('worker-41', 'worker', { state: 'failed' }),
  ];
  const { members, ways, hrefs } = drawn(agents, [
    mail('lead', 'worker-1', 3),
    mail('lead', 'worker-2', 4),
    mail('worker-3', 'worker-4', 9),
    mail('worker-5', 'user', 1),
  ]);
  expect(members).toEqual([
    'You; person',
    'lead; editor; quiet; quiet',
    'worker; 41 agents; failed; 1 failed, 40 waiting',
  ]);
  expect(ways).toEqual(['lead to role worker: 7', 'role worker to user: 1']);
  expect(hrefs).toEqual(['/p/river/mail?to=user', '/p/river/agents/lead', '/p/river?role=worker']);
});

test('a role that is opened shows forty of its agents, and how many more there are', () => {
  const { members, ways, hrefs } = drawn(
    [agent('lead', 'editor'), ...many(60, 'worker')],
    [mail('lead', 'worker-1', 3), mail('lead', 'worker-50', 4)],
    'worker',
  );
  expect(members).toHaveLength(2 + 40 + 1);
  expect(members.at(-1)).toBe('20 more; worker; quiet; quiet');
  expect(hrefs.at(-1)).toBe('/p/river/agents');
  expect(ways).toEqual(['lead to worker-1: 3', 'lead to role worker: 4']);
});

test('of very many roles, the last are one member', () => {
  const { members } = drawn(Array.from({ length: 100 }, (_, index) => agent(`a-${index}`, `role ${index}`)));
  expect(members).toHaveLength(1 + 40 + 1);
  expect(members.at(-1)).toBe('60 more; quiet; quiet');
});

test.each([780, 374])('in a drawing of %d pixels no pill covers another', (width) => {
  const ids = ['user', ...Array.from({ length: 40 }, (_, index) => `worker-${index}`)];
  const labels = ids.map((id) => ({ id, chars: 11 }));
  for (const shown of [ids.slice(0, 2), ids.slice(0, 5), ids]) {
    const { placed, height } = place(labels.slice(0, shown.length), width);
    const pills = [...placed.values()];
    for (const [index, one] of pills.entries()) {
      const isInside = one.x >= one.width / 2 && one.x <= width - one.width / 2 && one.y >= 22 && one.y <= height - 22;
      const covered = pills
        .slice(index + 1)
        .filter((other) => Math.abs(one.x - other.x) < one.width && Math.abs(one.y - other.y) < one.height);
      expect({ id: one.id, isInside, covered: covered.map(({ id }) => id) }).toEqual({
        ...{ id: one.id, isInside: true, covered: [] },
      });
    }
  }
});
