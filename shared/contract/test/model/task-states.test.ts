import { describe, expect, test } from '@jest/globals';
import { assertTaskAllows, taskMoves, taskStates } from '@suzumio/contract/model/task-states';

describe('a task', () => {
  const allowed = { open: ['accepted', 'done', 'declined'], accepted: ['done', 'declined'], done: [], declined: [] };
  const cases = taskStates.flatMap((state) =>
    taskMoves.map((to) => [state, to, (allowed[state] as string[]).includes(to) ? 'can' : 'cannot'] as const),
  );

  test.each(cases)('that is %s and is said to be %s: it %s be', (state, to, can) => {
    const move = () => {
      assertTaskAllows({ id: 'msg_1', state }, to);
    };
    if (can === 'can') move();
    else expect(move).toThrow(expect.objectContaining({ code: 'task-state-refused' }));
  });

  test('says what else it can become', () => {
    const move = (state: 'accepted' | 'done') => () => {
      assertTaskAllows({ id: 'msg_1', state }, 'accepted');
    };
    expect(move('accepted')).toThrow(
      'Task msg_1 is accepted and cannot become accepted: it can become done or declined.',
    );
    expect(move('done')).toThrow('Task msg_1 is done and cannot become accepted: that is final.');
  });
});
