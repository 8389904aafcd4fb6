import { describe, expect, test } from '@jest/globals';
import type { AgentView, ProjectView } from '@suzumio/shared/model/views';
import { renderProjects, renderStatus } from '@suzumio/cli/render/status';

const out = { colors: false };
const time = '2026-11-21T20:14:30.000Z';

function project(fields: Partial<ProjectView>): ProjectView {
  const counts = { turns: { total: 8, active: 0, failed: 0 }, messages: 12, artifacts: 4 };
  const base = { id: 'newsroom', status: 'running', task: '', reportPath: null, reportVersion: null } as const;
  return { ...base, createdAt: time, statusAt: time, ...counts, ...fields };
}

function agent(id: string, fields: Partial<AgentView> = {}): AgentView {
  const base = { id, base: id, role: '', displayName: null, prompt: '', tools: [], model: null } as const;
  return { ...base, state: 'quiet', activeTurn: null, unread: 0, turns: 1, failure: null, ...fields } as AgentView;
}

const active = { id: 'turn_1', number: 3, attempt: 1 };

describe('status', () => {
  test('explains what waits for whom', () => {
    const failure = { code: 'time-limit', message: '', turn: 't', turnNumber: 1, attempt: 1 } as const;
    const agents = [
      agent('editor'),
      agent('reporter-1', { unread: 1 }),
      agent('checker', { state: 'failed', failure }),
    ];
    const submitted = project({ status: 'submitted', turns: { total: 8, active: 0, failed: 1 } });
    expect(renderStatus(submitted, agents, out)).toEqual({
      lines: [
        'newsroom   submitted, waits for you     8 turns, 1 failed, 12 messages, 4 artifacts',
        '  editor      quiet',
        '  reporter-1  quiet, 1 unread (project is submitted)',
        '  checker     failed   time-limit in turn 1, attempt 1',
      ],
      next: ['report newsroom', 'approve newsroom', 'request-changes newsroom editor "…"'],
    });
  });

  test('says which agents work and which wait for a worker', () => {
    const agents = [
      agent('editor', { state: 'running', activeTurn: { ...active, status: 'running', attempt: 2 }, unread: 2 }),
      agent('checker', { state: 'running', activeTurn: { ...active, status: 'queued' } }),
    ];
    const { lines, next } = renderStatus(project({ turns: { total: 1, active: 2, failed: 0 } }), agents, out);
    expect(lines).toEqual([
      'newsroom   running, 2 agents at work     1 turn, 12 messages, 4 artifacts',
      '  editor   running  turn 3, attempt 2, 2 unread',
      '  checker  queued   turn 3 waits for a worker',
    ]);
    expect(next).toEqual(['watch newsroom']);
  });

  test.each([
    [project({ status: 'initialized' }), 'initialized, not started yet', ['start newsroom']],
    [project({}), 'running, all quiet: waits for mail', ['send newsroom editor P1 "…"']],
    [project({ status: 'stopped' }), 'stopped', ['start newsroom']],
    [project({ status: 'completed' }), 'completed, the report is approved', ['report newsroom']],
  ])('puts every status into words', (view, words, commands) => {
    const { lines, next } = renderStatus(view, [agent('editor')], out);
    expect(lines[0]).toContain(`newsroom   ${words}     `);
    expect(next).toEqual(commands);
  });

  test('of a failed agent in a running project, suggests the retry', () => {
    const { lines, next } = renderStatus(project({}), [agent('checker', { state: 'failed' })], out);
    expect(lines[0]).toContain('running, waits for a failed agent');
    expect(next).toEqual(['agents retry newsroom checker']);
  });

  test('of several projects, is a line each', () => {
    const projects = [project({}), project({ id: 'b', status: 'stopped' })].map((view) => ({
      project: view,
      agents: [],
    }));
    expect(renderProjects(projects)).toEqual([
      'newsroom   running, all quiet: waits for mail   8 turns, 12 messages, 4 artifacts',
      'b          stopped                              8 turns, 12 messages, 4 artifacts',
    ]);
  });
});
