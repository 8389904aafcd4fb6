import { describe, expect, test } from '@jest/globals';
import { readyAgents, type SchedulableAgent } from '@suzumio/core/mail/schedule';
import { agentStates } from '@suzumio/contract/model/states';
import { projectStatuses } from '@suzumio/contract/model/project-status';
import type { Priority } from '@suzumio/protocol/ids';

const running = { status: 'running', freeSlots: Infinity } as const;

function agent(
  id: string,
  urgent: Priority,
  oldestSeq: number,
  over: Partial<SchedulableAgent> = {},
): SchedulableAgent {
  return { id, state: 'quiet', external: false, unread: { count: 1, urgent, oldestSeq }, ...over };
}

describe('readyAgents', () => {
  test.each(projectStatuses)('a project that is %s', (status) => {
    expect(readyAgents({ ...running, status }, [agent('editor', 'P0', 1)])).toEqual(
      status === 'running' ? ['editor'] : [],
    );
  });

  test.each(agentStates)('an agent that is %s', (state) => {
    expect(readyAgents(running, [agent('editor', 'P0', 1, { state })])).toEqual(state === 'quiet' ? ['editor'] : []);
  });

  test('nothing runs without mail', () => {
    const unread = { count: 0, urgent: 'P1', oldestSeq: 0 } as const;
    expect(readyAgents(running, [agent('editor', 'P1', 0, { unread })])).toEqual([]);
    expect(readyAgents(running, [])).toEqual([]);
  });

  test('the most urgent first, then the one that has waited longest, then in the order of the team', () => {
    const agents = [
      agent('d', 'P2', 1),
      agent('b', 'P1', 7),
      agent('c', 'P1', 7),
      agent('a', 'P0', 9),
      agent('e', 'P1', 3),
    ];
    expect(readyAgents(running, agents)).toEqual(['a', 'e', 'b', 'c', 'd']);
  });

  test.each([
    [Infinity, 3],
    [2, 2],
    [1, 1],
    [0, 0],
    [-3, 0],
  ])('with %d free slots: %d more', (freeSlots, more) => {
    const project = { ...running, freeSlots };
    const agents = ['a', 'b', 'c'].map((id, index) => agent(id, 'P1', index));
    expect(readyAgents(project, agents)).toEqual(['a', 'b', 'c'].slice(0, more));
  });

  test('external agents take nobody’s place, and nobody takes theirs', () => {
    const external = ['x', 'y'].map((id) => agent(id, 'P0', 1, { external: true }));
    const bounded = { ...running, freeSlots: 1 };
    expect(readyAgents(bounded, [...external, agent('a', 'P1', 2), agent('b', 'P1', 3)])).toEqual(['x', 'y', 'a']);
    expect(readyAgents({ ...bounded, freeSlots: 0 }, [...external, agent('a', 'P1', 2)])).toEqual(['x', 'y']);
  });

  test('leaves what it was given as it was', () => {
    const agents = Object.freeze([agent('b', 'P1', 2), agent('a', 'P0', 1)]);
    expect(readyAgents(running, agents)).toEqual(['a', 'b']);
    expect(agents.map(({ id }) => id)).toEqual(['b', 'a']);
  });
});
