import { describe, expect, test } from '@jest/globals';
import type { AgentView } from '@suzumio/contract/model/agent';
import type { ProjectView } from '@suzumio/contract/model/project';
import type { ProjectDetailAnswer } from '@suzumio/contract/operations/projects';
import { stepAfterEvent } from '@suzumio/core/why/what-helps';
import type { FailureCode } from '@suzumio/protocol/failure-codes';
import { renderProjects, renderStatus as render } from '@suzumio/cli/render/status';

const at = (clock: string) => `2026-11-21T${clock}.000Z`;
const style = { out: { colors: false, columns: undefined }, timeZone: 'UTC', now: () => Date.parse(at('20:15:00')) };

function project(fields: Partial<ProjectView>): ProjectView {
  const counts = {
    turns: { total: 8, active: 0, failed: 0 },
    messages: 12,
    artifacts: 4,
    tokens: 0,
    costUsd: 0,
    paused: null,
  };
  const base = {
    id: 'newsroom',
    status: 'running',
    task: '',
    labels: {},
    standingTeam: null,
    reportPath: null,
    reportVersion: null,
    reportBy: null,
  } as const;
  const times = { createdAt: at('20:13:00'), startedAt: at('20:14:00'), statusAt: at('20:14:31') };
  return { ...base, ...times, ...counts, ...fields };
}

function agent(id: string, fields: Partial<AgentView> = {}): AgentView {
  const base = { id, base: id, role: '', displayName: null, prompt: '', tools: [], model: null } as const;
  const state = {
    state: 'quiet',
    stopping: false,
    paused: null,
    activeTurn: null,
    unread: 0,
    undelivered: 0,
    turns: 1,
    failure: null,
  };
  return { ...base, ...state, ...fields } as AgentView;
}

const free = { cellPaused: null, budgetsReached: [], storageReached: [], modelFaults: [] };
function renderStatus(
  view: ProjectView,
  agents: AgentView[],
  how: Parameters<typeof render>[1],
  more: Partial<ProjectDetailAnswer> = {},
) {
  return render({ project: view, agents, ...free, ...more }, how);
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
const failed = (who: string, code: FailureCode = 'time-limit') => {
  const failure = { code, message: '', turn: 't', turnNumber: 1, attempt: 1, ...stepAfterEvent('newsroom', who, code) };
  return agent(who, { state: 'failed', failure });
};
const { failure } = failed('checker');
if (!failure) throw new Error('it has failed');
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
    const submitted = project({
      status: 'submitted',
      reportBy: 'reporter-1',
      turns: { total: 8, active: 0, failed: 1 },
    });
    expect(renderStatus(submitted, agents, style)).toEqual({
      lines: [
        'newsroom   submitted, waits for you     8 turns, 1 failed, 0 tokens, 31 s',
        '  editor      quiet',
        '  reporter-1  quiet, 1 unread (project is submitted)',
        '  checker     failed   time-limit in turn 1, attempt 1',
      ],
      next: ['report newsroom', 'approve newsroom', 'request-changes newsroom reporter-1 "…"'],
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

  test('tells agents at work from those whose turns wait', () => {
    const queued = agent('ada', { state: 'running', activeTurn: active });
    const working = agent('ben', { state: 'running', activeTurn: { ...active, status: 'running' } });
    const first = (agents: AgentView[]) => renderStatus(project({}), agents, style).lines[0];
    expect(first([queued, queued])).toContain('running, 2 agents waiting for a turn to begin  ');
    expect(first([queued, working])).toContain('running, 1 agent at work, 1 waiting  ');
    expect(first([working])).toContain('running, 1 agent at work  ');
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
    expect(stateOf({ ...waiting, activeTurn: { ...active, failure: missing } })).toBe(
      'queued   turn 3 waits for a worker, 10 s; its last attempt: image-missing',
    );
  });

  test('asks first why an attempt has failed where its turn waits for another', () => {
    const tried = { ...active, failure: { code: 'image-missing', message: '' } } as const;
    const running = project({ turns: { total: 8, active: 1, failed: 0 } });
    const nextOf = (activeTurn: AgentView['activeTurn']) =>
      renderStatus(running, [agent('ada', { state: 'running', activeTurn })], style).next;
    expect(nextOf(tried)).toEqual(['why newsroom ada', 'watch newsroom']);
    expect(nextOf(active)).toEqual(['watch newsroom']);
  });

  test('names no attempt where none had begun', () => {
    expect(stateOf({ state: 'failed', failure: { ...failure, attempt: 0 } })).toBe('failed   time-limit in turn 1');
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
    const one = renderStatus(project({}), [failed('checker')], style);
    expect(one.lines[0]).toContain('running, waits for a failed agent');
    expect(one.next).toEqual(['why newsroom checker', 'agents retry newsroom checker']);
    const contradicted = renderStatus(project({}), [failed('checker', 'journal-mismatch')], style);
    expect(contradicted.next).toEqual(['why newsroom checker', 'agents reset newsroom checker --redeliver']);
    const two = renderStatus(project({}), [failed('a'), failed('b')], style);
    expect(two.next).toEqual(['why newsroom a', 'retry newsroom --failed']);
    const mixed = renderStatus(project({}), [failed('a'), failed('b', 'step-limit')], style);
    expect(mixed.next).toEqual(['why newsroom a', 'agents retry newsroom a']);
    expect(renderStatus(project({}), [failed('a', 'ref-unknown')], style).next).toEqual(['why newsroom a']);
  });

  test('of mail that a stopped agent or a cancelled turn keeps, suggests what frees it', () => {
    const stopped = renderStatus(project({}), [agent('ada', { state: 'stopped', unread: 1 })], style);
    expect(stopped.lines[0]).toContain('running, waits for a stopped agent');
    expect(stopped.next).toEqual(['agents start newsroom ada', 'why newsroom ada']);
    expect(renderStatus(project({}), [agent('ada', { undelivered: 1 })], style).next).toContain(
      'inbox newsroom --undelivered',
    );
  });

  const pause = { by: 'ann', at: at('20:10:00'), reason: 'It loops.' };

  test('names what was paused, by whom, when and why', () => {
    const one = renderStatus(project({}), [agent('ada', { unread: 1, paused: pause })], style);
    expect(one).toEqual({
      lines: [
        'newsroom   running, waits for a paused agent     8 turns, 0 tokens, 1 min 0 s',
        '  ada  quiet, 1 unread; paused by ann, 2026-11-21 20:10:00: It loops.',
      ],
      next: ['resume newsroom ada', 'why newsroom ada'],
    });
    const whole = renderStatus(project({ paused: { ...pause, reason: null } }), [agent('ada', { unread: 1 })], style);
    expect(whole.lines.map((line) => line.replace(/ {5}.*/, ''))).toEqual([
      'newsroom   running, but paused',
      '  paused by ann, 2026-11-21 20:10:00',
      '  ada  quiet, 1 unread (paused)',
    ]);
    expect(whole.next).toEqual(['resume newsroom']);
    const all = renderStatus(project({}), [agent('ada')], style, { cellPaused: pause });
    expect(all.lines[1]).toBe('  every project is paused by ann, 2026-11-21 20:10:00: It loops.');
    expect([all.lines[0], all.next]).toEqual([expect.stringContaining('everything is paused'), ['resume --all']]);
    const queued = { state: 'running', activeTurn: active, paused: pause } as const;
    expect(stateOf(queued)).toMatch(/^queued {3}turn 3 waits until it is resumed; paused by ann/);
  });

  test('names the budget that is reached, and what was spent', () => {
    const budgetsReached = [{ agent: null, limit: 'usd' as const, message: 'The project is at $1.00.' }];
    const { lines, next } = renderStatus(project({ costUsd: 1 }), [agent('ada', { unread: 1 })], style, {
      budgetsReached,
    });
    expect(lines).toEqual([
      'newsroom   running, but its budget is reached     8 turns, 0 tokens, $1.00, 1 min 0 s',
      '  The project is at $1.00.',
      '  ada  quiet, 1 unread (a budget is reached)',
    ]);
    expect(next).toEqual(['budget newsroom', 'why newsroom ada']);
  });

  test('of several projects, is a line each', () => {
    const projects = [project({}), project({ id: 'b', status: 'stopped' })].map((view) => ({
      project: view,
      agents: [],
      ...free,
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
