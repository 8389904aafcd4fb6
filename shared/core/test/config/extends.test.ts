import { describe, expect, test } from '@jest/globals';
import { brief, load, minimal, problemsOf } from './project-files.js';

describe('extends', () => {
  test('merges objects, first to last, with the file itself on top; lists and scalars are replaced', () => {
    const { config } = load({
      'project.yaml': `extends: [@import(one.yaml), @import(two.yaml), { turn: { maxAttempts: 7 } }]
name: demo
channels: ["#mine"]
agents:
  editor: { prompt: Mine., tools: [messages.send] }
turn: { timeout: 3s }
`,
      'one.yaml': `task: One.
channels: ["#one", "#two"]
agents:
  editor: { role: editor, prompt: One., tools: [artifacts.list, artifacts.read] }
  writer: { role: writer, prompt: Write. }
turn: { timeout: 1s, startDeadline: 1s, maxAttempts: 1 }
`,
      'two.yaml': 'task: Two.\nturn: { timeout: 2s, startDeadline: 2s, maxToolCalls: 2 }\n',
    });
    expect(config).toMatchObject({
      task: 'Two.',
      agents: {
        editor: { role: 'editor', prompt: 'Mine.', tools: ['messages.send'] },
        writer: { prompt: 'Write.' },
      },
      turn: { timeout: 3000, startDeadline: 2000, maxToolCalls: 2, maxAttempts: 7 },
    });
    expect(config.channels.map((channel) => channel.name)).toEqual(['#mine']);
  });

  test('takes one object too, and files that extend others', () => {
    const { config } = load({
      'project.yaml': minimal('extends: @import(base/a.yaml)\n'),
      'base/a.yaml': 'extends: @import(b.yaml)\nturn: { timeout: 1s }\n',
      'base/b.yaml': 'turn: { timeout: 2s, startDeadline: 2s }\n',
    });
    expect(config.turn).toMatchObject({ timeout: 1000, startDeadline: 2000 });
  });

  test('works in a file that is imported as a part', () => {
    const { config } = load({
      'project.yaml': minimal('  writer: @import(writer.yaml)\n'),
      'writer.yaml': 'extends: @import(agent.yaml)\nprompt: Write.\n',
      'agent.yaml': 'role: writer\nprompt: Anything.\ntools: [messages.send]\n',
    });
    expect(config.agents.writer).toMatchObject({ role: 'writer', prompt: 'Write.', tools: ['messages.send'] });
  });

  test('is merged in any object where it is a list', () => {
    const { config } = load(
      minimal(`    extends: [{ role: writer, displayName: Ada }, { displayName: Bo }]
backend: { docker: { extends: [{ pids: 64, memory: 64m }], memory: 32m } }
`),
    );
    expect(config.agents.editor).toMatchObject({ role: 'editor', displayName: 'Bo' });
    expect(config.backend.docker).toMatchObject({ pids: 64, memory: 32 * 1024 ** 2 });
  });

  test('is a field like any other elsewhere', () => {
    const step = '{ tool: messages.send, input: { recipient: editor, body: a, extends: [{ b: c }] } }';
    const script = minimal(`backend: { runner: { mode: mock, script: [{ agent: editor, steps: [${step}] }] } }\n`);
    expect(load(script).config.backend.runner.script?.[0]?.steps[0]).toMatchObject({
      input: { extends: [{ b: 'c' }] },
    });
    expect(problemsOf(minimal('turn: { extends: { timeout: 1s } }\n')).map(brief)).toEqual(['field-unknown 7:9']);
  });

  test('tells problems where they were written', () => {
    const problems = problemsOf({
      'project.yaml': minimal('extends: @import(base.yaml)\n    # the agents come first\n').replace(
        'role: editor',
        'rloe: x',
      ),
      'base.yaml': 'turn:\n  timeout: soon\nagents:\n  editor:\n    tools: [fly]\n',
    });
    expect(problems.map((problem) => `${problem.file} ${brief(problem)}`)).toEqual([
      'base.yaml value-invalid 2:12',
      'base.yaml tool-unknown 5:13',
      'project.yaml field-unknown 5:5',
    ]);
  });

  test('does not hide a key that is replaced', () => {
    const text = minimal('extends: { task: sk-abcdefghijklmnop1234567 }\n');
    expect(problemsOf(text).map(brief)).toEqual(['secret-in-file 7:18']);
  });

  test('takes in no rendered file', () => {
    const problems = problemsOf({
      'project.yaml': minimal('extends: @import(base.yaml)\n'),
      'base.yaml': 'rendered: 1\n',
    });
    expect(problems.length).toBeGreaterThan(0);
  });
});
