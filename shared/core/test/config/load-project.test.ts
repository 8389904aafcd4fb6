import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { loadProjectText } from '@suzumio/core/profiles/load-project';
import { loadProjectFile } from '@suzumio/runtime/disk/load-project-file';
import { renderConfig } from '@suzumio/core/config/render-config';
import { load, minimal, withFiles } from './project-files.js';

const golden = join(import.meta.dirname, 'golden');

describe('a project file', () => {
  test('renders to the golden file', () => {
    const project = loadProjectFile(join(golden, 'newsroom.yaml'), { env: {} });
    const expected = readFileSync(join(golden, 'newsroom.rendered.yaml'), 'utf8').replaceAll('DIRECTORY', golden);
    expect(renderConfig(project.config)).toBe(expected);
    expect(project.warnings).toEqual([]);
    expect(project.files).toEqual([join(golden, 'newsroom.yaml'), join(golden, 'newsroom.script.yaml')]);
    expect(project.sourceText).toBe(readFileSync(join(golden, 'newsroom.yaml'), 'utf8'));
  });

  test('rendered, loads to the same config from disk and as posted text', () => {
    const { config } = loadProjectFile(join(golden, 'newsroom.yaml'), { env: {} });
    const text = renderConfig(config);
    expect(loadProjectText(text, 'posted.yaml').config).toEqual(config);
    expect(load(text).config).toEqual(config);
  });

  test.each([
    ['[files]', '', { timeout: 900_000, memory: 1024 ** 3 }],
    ['[shell]', '', { timeout: 3_600_000, memory: 4 * 1024 ** 3 }],
    [
      '[shell]',
      'turn: { timeout: 5m }\nbackend: { docker: { memory: 256m } }\n',
      { timeout: 300_000, memory: 256 * 1024 ** 2 },
    ],
  ])(
    'whose toolpacks are %s gets time and memory for what it runs, unless it says otherwise: %j',
    (packs, more, expected) => {
      const { config } = load(`${minimal()}\ntools: { toolpacks: ${packs} }\n${more}`);
      expect({ timeout: config.turn.timeout, memory: config.backend.docker.memory }).toEqual(expected);
    },
  );

  test('that says the least gets the defaults', () => {
    const { config } = load(minimal());
    expect(config).toEqual({
      rendered: 1,
      name: 'demo',
      task: 'Do it.',
      channels: [
        { name: '#project', members: ['editor'] },
        { name: '#blocked', members: ['editor'] },
      ],
      scheduler: {
        kind: 'nonpreemptive-mailbox',
        maxPromptMessages: 20,
        maxPromptBytes: 65_536,
        intervalMs: 2000,
      },
      backend: {
        kind: 'docker',
        image: 'suzumio-runner:dev',
        docker: {
          network: 'none',
          passProviderKeys: false,
          mounts: [],
          memory: 1_073_741_824,
          cpus: 1,
          pids: 256,
          readOnlyRoot: true,
          tmpfs: { '/tmp': 268_435_456 },
          keep: 'failed',
          keepFor: 3_600_000,
        },
        runner: { mode: 'ai' },
      },
      agents: { editor: { base: 'editor', role: 'editor', prompt: 'Edit.', tools: [] } },
      tools: { toolpacks: ['core'] },
      turn: {
        timeout: 900_000,
        maxSteps: 50,
        maxToolCalls: 200,
        maxAttempts: 3,
        startDeadline: 3_600_000,
        providerPatience: 86_400_000,
      },
      observability: { http: { enabled: true, host: '127.0.0.1', port: 39_400 }, webui: { enabled: true } },
    });
  });

  test('has a role for each agent, and instructions where they are given', () => {
    const { config } = load('name: demo\ntask: t\nagents: { pm: {}, worker: { count: 2 } }\n');
    expect(config.agents['pm']).toMatchObject({ role: 'pm', prompt: '' });
    expect(config.agents['worker-2']).toMatchObject({ role: 'worker', prompt: '' });
    expect(load(renderConfig(config)).config).toEqual(config);
  });

  test('has a place for anchors', () => {
    const { config, notes } = load(
      minimal('    env: *env\nx-env: 1\n').replace('name:', 'x-common: { env: &env { A: b } }\nname:'),
    );
    expect(config.agents.editor?.env).toEqual({ A: 'b' });
    expect(notes).toEqual([]);
  });

  test('is read whatever its line ends are, and with a byte order mark', () => {
    const plain = load(minimal('turn: { timeout: 5s }\n')).config;
    expect(load(`\uFEFF${minimal('turn: { timeout: 5s }\n')}`).config).toEqual(plain);
    expect(load(minimal('turn: { timeout: 5s }\n').replaceAll('\n', '\r\n')).config).toEqual(plain);
  });

  test('takes short durations, sizes and older names', () => {
    const { config } = load(
      minimal(`backend:
  kind: docker-chat
  docker: { memory: 512m, cpus: 0.5, user: 1000, tmpfs: { /tmp: 64m, /run: 1k }, keep: always, keepFor: 90 }
turn: { timeout: 1m, startDeadline: 500ms, providerPatience: 2h }
scheduler: { intervalMs: 3s, maxConcurrentTurns: 4 }
`),
    );
    expect(config.backend.kind).toBe('docker');
    expect(config.backend.docker).toMatchObject({
      memory: 536_870_912,
      cpus: 0.5,
      user: '1000',
      tmpfs: { '/tmp': 67_108_864, '/run': 1024 },
      keep: 'always',
      keepFor: 90,
    });
    expect(config.turn).toMatchObject({ timeout: 60_000, startDeadline: 500, providerPatience: 7_200_000 });
    expect(config.scheduler).toMatchObject({ intervalMs: 3000, maxConcurrentTurns: 4 });
  });

  test('expands counted agents, and members that name them', () => {
    const { config } = load(`name: demo
task: Do it.
channels:
  - "#all"
  - name: "#writers"
    members: [worker, pm]
agents:
  pm: { role: pm, prompt: Lead. }
  worker: { role: worker, prompt: Work., count: 3, names: [Ada, Bo] }
  twin: { role: twin, prompt: Work., names: [Cy, Di], count: 2, displayName: Twin }
  one: { role: one, prompt: Work., count: 1, names: [Ed] }
`);
    expect(Object.keys(config.agents)).toEqual(['pm', 'worker-1', 'worker-2', 'worker-3', 'twin-1', 'twin-2', 'one']);
    expect(config.agents['worker-2']).toMatchObject({ base: 'worker', displayName: 'Bo' });
    expect(config.agents['worker-3']).not.toHaveProperty('displayName');
    expect(config.agents['twin-2']).toMatchObject({ base: 'twin', displayName: 'Di' });
    expect(config.agents['one']).toMatchObject({ base: 'one', displayName: 'Ed' });
    expect(config.channels).toEqual([
      { name: '#all', members: ['pm', 'worker-1', 'worker-2', 'worker-3', 'twin-1', 'twin-2', 'one'] },
      { name: '#writers', members: ['worker-1', 'worker-2', 'worker-3', 'pm'] },
    ]);
  });

  test('makes paths of the host absolute, from the project file on', () => {
    const files = {
      'project.yaml': minimal(`    workspace: { from: data/in }
backend: { docker: { mounts: [{ source: ../shared, target: /mnt }] } }
tools: { toolpacks: [{ id: ours, path: packs/ours }] }
`),
      'packs/ours/suzumio.toolpack.json': '{ "id": "ours", "tools": [] }',
    };
    withFiles(files, (directory) => {
      const { config } = loadProjectFile(join(directory, 'project.yaml'), { env: {} });
      expect(config.agents.editor?.workspace).toEqual({ from: join(directory, 'data/in') });
      expect(config.backend.docker.mounts).toEqual([
        { source: join(directory, '../shared'), target: '/mnt', readonly: true },
      ]);
      expect(config.tools.toolpacks).toEqual(['core', { id: 'ours', path: join(directory, 'packs/ours') }]);
    });
  });

  test('knows where each field of the config was written', () => {
    const project = load(`name: demo
task: Do it.
agents:
  worker:
    count: 2
    role: worker
    prompt: Work.
    tools:
      - messages.send
`);
    const at = (...path: (string | number)[]) => {
      const { line, column } = project.locate(path);
      return `${line}:${column}`;
    };
    expect(at('task')).toBe('2:7');
    expect(at('agents', 'worker-2', 'tools', 0)).toBe('9:9');
    expect(at('agents', 'worker-2', 'model')).toBe('4:3');
    expect(at('backend', 'runner', 'mode')).toBe('1:1');
  });

  test.each([
    ['an answer that fills the context', 'maxOutputTokens: 8000, contextLimit: 8000', [], ['no room for a question']],
    ['a context that holds no tools', 'contextLimit: 2000', ['*'], ['does not hold what agent a begins with']],
    ['a context that holds them', 'contextLimit: 8000, maxOutputTokens: 4000', ['*'], []],
    ['a context that holds a prompt', 'contextLimit: 2000', [], []],
  ])('warns of limits that cannot hold: %s', (_, preset, tools, said) => {
    const { warnings } = load(`name: demo
task: Do it.
backend:
  runner:
    mode: ai
    model: m
    models:
      providers: { p: { type: openai-compatible, baseURL: 'http://127.0.0.1:1/v1' } }
      presets: { m: { provider: p, model: m, ${preset} }, all: { model-list: [m] } }
tools: { toolpacks: [files, shell] }
agents:
  a: { role: r, prompt: p, tools: ${JSON.stringify(tools)}, model: all }
`);
    expect(warnings.map(({ code, line }) => [code, line])).toEqual(said.map(() => ['limit-too-small', 9]));
    expect(warnings.map(({ message }) => message)).toEqual(said.map((words) => expect.stringContaining(words)));
  });

  test('warns of names that stand for two participants', () => {
    const { warnings } = load(`name: demo
task: Do it.
agents:
  a: { role: r, prompt: p, displayName: Kim }
  b: { role: r, prompt: p, displayName: Kim }
  c: { role: r, prompt: p, displayName: user }
`);
    expect(warnings.map(({ code, line, column }) => [code, line, column])).toEqual([
      ['name-ambiguous', 5, 41],
      ['name-ambiguous', 6, 41],
    ]);
  });
});
