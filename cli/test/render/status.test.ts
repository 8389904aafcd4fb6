import { describe, expect, test } from '@jest/globals';
import type { AgentView, ProjectView } from '@suzumio/shared/model/views';
import { renderProjects, renderStatus } from '@suzumio/cli/render/status';

const at = (clock: string) => `2026-11-21T${clock}.000Z`;
const style = { out: { colors: false, columns: undefined }, timeZone: 'UTC', now: () => Date.parse(at('20:15:00')) };

function project(fields: Partial<ProjectView>): ProjectView {
  const counts = { turns: { total: 8, active: 0, failed: 0 }, messages: 12, artifacts: 4, tokens: 0 };
  const base = {
    id: 'newsroom',
    status: 'running',
    task: '',
    labels: {},
    reportPath: null,
    reportVersion: null,
  } as const;
  const times = { createdAt: at('20:13:00'), startedAt: at('20:14:00'), statusAt: at('20:14:31') };
  return { ...base, ...times, ...counts, ...fields };
}

function agent(id: string, fields: Partial<AgentView> = {}): AgentView {
  const base = { id, base: id, role: '', displayName: null, prompt: '', tools: [], model: null } as const;
  const state = {
    state: 'quiet',
    stopping: false,
    activeTurn: null,
    unread: 0,
    undelivered: 0,
    turns: 1,
    failure: null,
  };
  return { ...base, ...state, ...fields } as AgentView;
}

const active = {
  id: 'turn_1',
  number: 3,
  attempt: 1,
  status: 'queued',
  queuedAt: at('20:14:50'),
  startedAt: null,
  notBefore: null,
  failure: null,
} as const;
const failure = { code: 'time-limit', message: '', turn: 't', turnNumber: 1, attempt: 1 } as const;
/** What stands beside an agent in a project that runs. */
const stateOf = (fields: Partial<AgentView>, of: Partial<ProjectView> = {}) =>
  renderStatus(project(of), [agent('ada', fields)], style).lines[1]?.replace('  ada  ', '');

describe('status', () => {
  test('explains what waits for whom', () => {
    const agents = [
      agent('editor'),
      agent('reporter-1', { unread: 1 }),
      agent('checker', { state: 'failed', failure, undelivered: 1 }),
    ];
    const submitted = project({ status: 'submitted', turns: { total: 8, active: 0, failed: 1 } });
    expect(renderStatus(submitted, agents, style)).toEqual({
      lines: [
        'newsroom   submitted, waits for you     8 turns, 1 failed, 0 tokens, 31 s',
        '  editor      quiet',
        '  reporter-1  quiet, 1 unread (project is submitted)',
        '  checker     failed   time-limit in turn 1, attempt 1',
      ],
      next: ['report newsroom', 'approve newsroom', 'request-changes newsroom editor "…"'],
    });
  });

  test('says what an agent at work is at, and since when', () => {
    const running = { ...active, status: 'running', attempt: 2, startedAt: at('20:14:48') } as const;
    expect(stateOf({ state: 'running', activeTurn: running, unread: 2 })).toBe(
      'running  turn 3, attempt 2, 12 s, 2 unread',
    );
    expect(stateOf({ state: 'running', activeTurn: running, stopping: true })).toBe(
      'running  turn 3, attempt 2, 12 s; stops then',
    );
  });

  test('says what a queued turn waits for', () => {
    const waiting = { state: 'running', activeTurn: active } as const;
    expect(stateOf(waiting)).toBe('queued   turn 3 waits for a worker, 10 s');
    const missing = { code: 'image-missing', message: '' } as const;
    expect(stateOf({ ...waiting, activeTurn: { ...active, notBefore: at('20:15:30'), failure: missing } })).toBe(
      'queued   turn 3 is tried again at 20:15:30 after image-missing',
    );
    expect(stateOf({ ...waiting, activeTurn: { ...active, failure: missing } }, { status: 'stopped' })).toBe(
      'queued   turn 3 goes on when the project runs again after image-missing',
    );
  });

  test('says why a quiet or stopped agent has mail', () => {
    expect(stateOf({ unread: 2 })).toBe('quiet, 2 unread; its turn is about to start');
    expect(stateOf({ undelivered: 1 })).toBe('quiet, 1 undelivered');
    expect(stateOf({ state: 'stopped', unread: 1 })).toBe('stopped, 1 unread');
  });

  test.each([
    [project({ status: 'initialized', startedAt: null }), 'initialized, not started yet', ['start newsroom']],
    [project({}), 'running, all quiet: waits for mail', ['send newsroom editor P1 "…"']],
    [project({ status: 'stopped' }), 'stopped', ['start newsroom']],
    [project({ status: 'completed' }), 'completed, the report is approved', ['report newsroom']],
  ])('puts every status into words', (view, words, commands) => {
    const { lines, next } = renderStatus(view, [agent('editor')], style);
    expect(lines[0]).toContain(`newsroom   ${words}     `);
    expect(next).toEqual(commands);
  });

  test('counts the time of a project that runs up to now', () => {
    expect(renderStatus(project({}), [agent('editor')], style).lines[0]).toMatch(/0 tokens, 1 min 0 s$/);
    expect(renderStatus(project({ startedAt: null }), [agent('editor')], style).lines[0]).toMatch(/0 tokens$/);
  });

  test('of failed agents in a running project, suggests to look and to retry', () => {
    const one = renderStatus(project({}), [agent('checker', { state: 'failed' })], style);
    expect(one.lines[0]).toContain('running, waits for a failed agent');
    expect(one.next).toEqual(['logs newsroom checker', 'agents retry newsroom checker']);
    const two = renderStatus(project({}), [agent('a', { state: 'failed' }), agent('b', { state: 'failed' })], style);
    expect(two.next).toEqual(['logs newsroom a', 'retry newsroom --failed']);
  });

  test('of mail that a stopped agent or a cancelled turn keeps, suggests what frees it', () => {
    const stopped = renderStatus(project({}), [agent('ada', { state: 'stopped', unread: 1 })], style);
    expect(stopped.lines[0]).toContain('running, waits for a stopped agent');
    expect(stopped.next).toEqual(['agents start newsroom ada']);
    expect(renderStatus(project({}), [agent('ada', { undelivered: 1 })], style).next).toContain(
      'inbox newsroom --undelivered',
    );
  });

  test('of several projects, is a line each', () => {
    const projects = [project({}), project({ id: 'b', status: 'stopped' })].map((view) => ({
      project: view,
      agents: [],
    }));
    expect(renderProjects(projects, style)).toEqual([
      'newsroom   running, all quiet: waits for mail   8 turns, 0 tokens, 1 min 0 s',
      'b          stopped                              8 turns, 0 tokens, 31 s',
    ]);
  });

  test('keeps to the width of a terminal', () => {
    const narrow = { ...style, out: { colors: false, columns: 40 } };
    const { lines } = renderStatus(project({}), [agent('ada', { state: 'failed', failure })], narrow);
    expect(lines.every((line) => line.length <= 40)).toBe(true);
  });
});
