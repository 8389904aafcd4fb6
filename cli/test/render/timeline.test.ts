import { describe, expect, test } from '@jest/globals';
import { type EventType, eventTypes, type ProjectEvent } from '@suzumio/contract/model/event';
import { describeEvent } from '@suzumio/cli/render/describe-event';
import { createTimeline, openEnds } from '@suzumio/cli/render/timeline';

const style = { out: { colors: false, columns: undefined }, timeZone: 'UTC', suzumio: 'suzumio' };
const cast = { project: 'newsroom', agents: ['editor', 'reporter-1', 'checker'] };

let seq = 0;
function event(
  type: EventType,
  time: string,
  fields: Partial<Omit<ProjectEvent, 'data'>> & { data?: Record<string, unknown> } = {},
): ProjectEvent {
  seq += 1;
  const base = { id: `1-${seq}`, seq, type, actor: 'system', agent: null, turn: null, data: {} };
  // Another version may have said less.
  return { ...base, createdAt: `2026-11-21T${time}.000Z`, ...fields } as ProjectEvent;
}

const of = (agent: string, data: Record<string, unknown>) => ({ agent, actor: agent, turn: 'turn_1', data });

const evening = [
  event('project.initialized', '20:13:00', { actor: 'user', data: { agents: ['editor', 'reporter-1', 'checker'] } }),
  event('project.started', '20:13:01'),
  event('message.created', '20:14:02', {
    data: { sender: 'user', recipient: 'editor', priority: 'P1', excerpt: "Tonight's bulletin, please." },
  }),
  event('turn.queued', '20:14:02', of('editor', { number: 1 })),
  event('turn.started', '20:14:02', of('editor', { number: 1, attempt: 1, backend: 'docker', sinceMessageMs: 41 })),
  event('tool.called', '20:14:03', of('editor', { tool: 'messages.send', outcome: 'succeeded' })),
  event('message.created', '20:14:03', {
    data: { sender: 'editor', recipient: 'reporter-1', priority: 'P1', excerpt: 'The north gauge, please.' },
  }),
  event(
    'turn.completed',
    '20:14:03',
    of('editor', {
      number: 1,
      durationMs: 1_130,
      messages: 2,
      artifacts: 0,
      files: { added: 3, changed: 1, removed: 0 },
    }),
  ),
  event(
    'workspace.cloned',
    '20:14:03',
    of('editor', { repository: 'tides', branch: 'suzumio/editor', commit: '7ce5bb55ec0efc32fc620dbace8f4e9559d86473' }),
  ),
  event(
    'upstream.moved',
    '20:14:03',
    of('editor', { repository: 'tides', from: 'a'.repeat(40), to: 'b'.repeat(40), ahead: 3, rewritten: true }),
  ),
  event(
    'upstream.missed',
    '20:14:03',
    of('editor', { repository: 'tides', code: 'repository-refused', message: 'There is no repository.' }),
  ),
  event(
    'git.pushed',
    '20:14:03',
    of('editor', {
      push: 1,
      updates: [
        { ref: 'refs/heads/suzumio/editor', from: null, to: '7ce5bb55ec0efc32fc620dbace8f4e9559d86473' },
        { ref: 'refs/tags/v1', from: '7ce5bb55ec0efc32fc620dbace8f4e9559d86473', to: null },
      ],
      objects: 3,
      sizeBytes: 300,
    }),
  ),
  event(
    'tool.called',
    '20:14:04',
    of('checker', { tool: 'completion.submit', outcome: 'refused', code: 'tool-not-allowed' }),
  ),
  event('artifact.published', '20:14:04', of('reporter-1', { name: 'north.md', sizeBytes: 1_234, sha256: '9f3cabc' })),
  event('message.created', '20:14:04', {
    data: { sender: 'reporter-1', channel: '#newsroom', priority: 'P3', excerpt: 'Done.' },
  }),
  event(
    'turn.requeued',
    '20:14:05',
    of('checker', { number: 1, attempt: 1, message: 'The worker was lost.', inMs: 0 }),
  ),
  event('turn.started', '20:14:05', of('checker', { number: 1, attempt: 2, backend: 'docker' })),
  event(
    'turn.failed',
    '20:14:06',
    of('checker', { number: 1, code: 'time-limit', message: 'time limit (15 s) reached' }),
  ),
  event('agent.waiting', '20:14:07', of('reporter-1', { reason: 'the south gauge' })),
  event('project.submitted', '20:14:30', of('editor', { version: 1 })),
  event('project.changes-requested', '20:15:00', { actor: 'admin', data: { version: 1, recipient: 'editor' } }),
  event('turn.cancelled', '20:15:01', of('editor', { number: 2, reason: 'the project was stopped' })),
  event('project.stopped', '20:15:01'),
  event('project.restored', '20:15:02', { data: { epoch: 217_533_280, before: 1 } }),
  event('project.completed', '20:16:00', { actor: 'admin', data: { version: 2 } }),
];

describe('the timeline', () => {
  test('says of a turn that it called no tools, which may mean that its model cannot', () => {
    const done = (calls: number) =>
      describeEvent(
        'newsroom',
        event(
          'turn.completed',
          '20:13:00',
          of('editor', { number: 1, durationMs: 900, messages: 0, artifacts: 0, calls }),
        ),
      )?.what;
    expect(done(0)).toBe('turn 1 done      900 ms, called no tools');
    expect(done(2)).toBe('turn 1 done      900 ms');
  });

  test('has a line for each call of a tool that no other event tells of, unless it is to be quiet', () => {
    const called = (tool: string, outcome = 'succeeded') =>
      event('tool.called', '20:13:00', of('editor', { tool, outcome, ...(outcome === 'failed' ? { code: 'x' } : {}) }));
    const lines = (quiet: boolean) =>
      [called('shell.exec'), called('messages.send'), called('file.read', 'failed')].flatMap((one) =>
        createTimeline(cast, { ...style, quiet })(one, true).map((line) =>
          line
            .trim()
            .split(/\s{2,}/)
            .at(-1),
        ),
      );
    expect(lines(false)).toEqual(['shell.exec', 'file.read failed: x']);
    expect(lines(true)).toEqual(['file.read failed: x']);
  });

  test('has words for every type of event, unless another event says the same better', () => {
    const silent = eventTypes.filter((type) => !describeEvent('newsroom', event(type, '20:13:00')));
    expect(silent).toEqual(['turn.queued', 'model.answered']);
    const task = { kind: 'task', sender: 'editor', recipient: 'checker', priority: 'P1', excerpt: 'Compare.' };
    expect(describeEvent('newsroom', event('message.created', '20:13:00', { data: task }))).toBeUndefined();
  });

  test('follows a task from its assignment to its end', () => {
    const about = { task: 'msg_1', assigner: 'editor' };
    const assigned = { ...about, role: 'fact checker', priority: 'P0', excerpt: 'Compare\u001b[2J every figure.' };
    const timeline = createTimeline(cast, style);
    const lines = [
      event('task.assigned', '20:14:00', { ...of('checker', assigned), actor: 'editor' }),
      event('task.assigned', '20:14:00', of('checker', { ...assigned, team: 'desk' })),
      event('task.accepted', '20:14:01', of('checker', about)),
      event('task.done', '20:14:02', of('checker', about)),
      event('task.declined', '20:14:03', of('checker', about)),
    ].flatMap((entry) => timeline(entry, true));
    expect(lines).toEqual([
      '20:14:00  editor -> checker      P0  task for fact checker: "Compare [2J every figure."',
      '20:14:00  editor -> checker      P0  task for fact checker of desk: "Compare [2J every figure."',
      '20:14:01  checker                accepted the task of editor',
      '20:14:02  checker                did the task of editor',
      '20:14:03  checker                declined the task of editor',
    ]);
  });

  test('says what happened, who did it and what to do next, in aligned columns', () => {
    const timeline = createTimeline(cast, style);
    expect(evening.flatMap((entry) => timeline(entry, true))).toEqual([
      '20:13:00  newsroom               initialized with 3 agents',
      '                                 next: suzumio start newsroom',
      '20:13:01  newsroom               started',
      '20:14:02  user -> editor         P1  "Tonight\'s bulletin, please."',
      '20:14:02  editor                 turn 1 started   (docker, 41 ms after the message)',
      '20:14:03  editor -> reporter-1   P1  "The north gauge, please."',
      '20:14:03  editor                 turn 1 done      1.1 s, 2 messages, files changed: +3 ~1 -0',
      '20:14:03  editor                 cloned tides: suzumio/editor begins at 7ce5…',
      '20:14:03  editor                 tides is at bbbb… now, 3 commits from the base; its history was rewritten',
      '20:14:03  editor                 no news of tides: repository-refused',
      '                                 next: suzumio workspace show newsroom editor',
      '20:14:03  editor                 pushed suzumio/editor new -> 7ce5bb55ec, tags/v1 7ce5bb55ec -> deleted',
      '20:14:04  checker                completion.submit refused: tool-not-allowed',
      '20:14:04  reporter-1             published north.md   1.2 kB  sha256 9f3c…',
      '20:14:04  reporter-1 -> #newsroom  P3  "Done."',
      '20:14:05  checker                turn 1 requeued  The worker was lost. Tried again now.',
      '20:14:05  checker                turn 1 started   (docker, attempt 2)',
      '20:14:06  checker                turn 1 failed    time limit (15 s) reached; mail kept',
      '                                 next: suzumio agents retry newsroom checker',
      '20:14:07  reporter-1             waits for a signal: the south gauge',
      '20:14:30  editor                 submitted the report (version 1)',
      '                                 next: suzumio report newsroom',
      '                                   or  suzumio approve newsroom',
      '                                   or  suzumio request-changes newsroom editor "…"',
      '20:15:00  user                   sent version 1 back to editor',
      '20:15:01  editor                 turn 2 cancelled the project was stopped',
      '20:15:01  newsroom               stopped; unread mail is kept',
      '                                 next: suzumio start newsroom',
      '20:15:02  newsroom               restored from a copy; what ran then is queued again',
      '20:16:00  user                   approved the report (version 2)',
      '                                 next: suzumio report newsroom',
    ]);
  });

  test('calls the owner user, whatever they do, and everyone else by their token', () => {
    const acts = [
      ['project.changes-requested', { version: 1, recipient: 'editor' }],
      ['project.completed', { version: 2 }],
      ['project.labelled', { set: { team: 'river' }, removed: ['old'] }],
      ['message.redacted', { seq: 3 }],
      ['artifact.redacted', { name: 'north.md' }],
      ['memory.redacted', { note: 'note_1', because: null }],
    ] as const;
    const by = (actor: string) =>
      acts.map(([type, data]) => describeEvent('newsroom', event(type, '20:13:00', { actor, data }))?.who);
    expect(by('admin')).toEqual(acts.map(() => 'user'));
    expect(by('user')).toEqual(acts.map(() => 'user'));
    expect(by('ci')).toEqual(acts.map(() => 'ci'));
    const labelled = describeEvent('newsroom', event('project.labelled', '20:13:00', { data: acts[2][1] }));
    expect(labelled?.what).toBe('changed labels: team=river old-');
    const data = { version: 4, reverts: 2, changes: 5, changed: ['a', 'b', 'c', 'd'], added: [], retired: [] };
    expect(describeEvent('newsroom', event('config.changed', '20:13:00', { data }))).toMatchObject({
      what: 'changed the project file to version 4, back to 2: a, b, c, 2 more',
      next: ['config diff newsroom'],
    });
  });

  test('of the past, suggests only what is still to be done', () => {
    const open = openEnds(evening);
    expect(evening.filter(({ seq: number }) => open.has(number)).map(({ type }) => type)).toEqual([
      'turn.failed',
      'project.completed',
    ]);
    const retried = [...evening, event('turn.queued', '20:17:00', of('checker', { number: 1, retry: true }))];
    expect(openEnds(retried).size).toBe(1);
  });

  test('cuts lines, but no command, to the width of the terminal, and colours them there', () => {
    const long = event('message.created', '20:14:02', {
      data: { sender: 'user', recipient: 'editor', priority: 'P1', excerpt: 'x'.repeat(160) },
    });
    const narrow = createTimeline(cast, { ...style, out: { colors: false, columns: 60 } });
    expect(narrow(long, true)[0]).toHaveLength(60);
    const [, next = ''] = narrow(event('project.completed', '20:16:00', { data: { version: 1 } }), true);
    expect(next.trim()).toBe('next: suzumio report newsroom');
    const colored = createTimeline(cast, { ...style, out: { colors: true, columns: 60 } });
    expect(colored(long, true)[0]).toContain('\u001b[');
  });

  test('shows nothing of a message that could steer a terminal', () => {
    const hostile = event('message.created', '20:14:02', {
      data: { sender: 'editor', recipient: 'user', priority: 'P1', excerpt: 'a\u001b[2Jb\u202ec\u009bd' },
    });
    const [line = ''] = createTimeline(cast, style)(hostile, true);
    // oxlint-disable-next-line no-control-regex -- control characters are what must not be there
    expect(line).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e]/);
  });
});
