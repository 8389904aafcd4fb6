import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { refuseUnsupported } from '@suzumio/core/config/unsupported';
import { loadProjectText } from '@suzumio/core/profiles/load-project';
import { importPublishedFile, loadProjectFile } from '@suzumio/runtime/disk/load-project-file';
import { brief, load, minimal, problemsIn, problemsOf, withFiles } from './project-files.js';

const directory = join(import.meta.dirname, '../../../../test/fixtures/published');

/** Files with the keys of the published ones, and the places of the notes on each. */
const files: [string, string[]][] = [
  ['demo.yaml', ['1:1', '14:3 backend.controllerUrl']],
  ['ai-demo.yaml', ['1:1', '11:3 backend.controllerUrl', '32:11 backend.runner.models.presets.main.providerOptions']],
  ['import-demo.yaml', []],
  [
    'e2e/formal-languages-websearch.yaml',
    [
      '1:1',
      '8:3 backend.controllerUrl',
      '46:9 agents.pm.tools[3]',
      '57:9 agents.researcher.tools[2]',
      '67:9 agents.factchecker.tools[2]',
      '75:7 tools.toolpacks[1]',
    ],
  ],
  [
    'e2e/ramsey-explore.yaml',
    [
      '1:1',
      '8:3 backend.controllerUrl',
      '10:14 backend.docker.network',
      '12:5 backend.docker.proxy',
      '66:9 agents.researcher.tools[3]',
      '76:9 agents.critic.tools[2]',
      '85:7 tools.toolpacks[2]',
    ],
  ],
  ['e2e/square-proof.yaml', ['1:1', '8:3 backend.controllerUrl']],
  ['minimal.yaml', []],
  // The patterns of its guide.
  ['guide/reviewed.yaml', ['1:1', '8:28 tools.toolpacks[2]', '29:9 agents.worker.tools[3]']],
  ['guide/experiment.yaml', ['1:1']],
  [
    'guide/web-research.yaml',
    [
      '1:1',
      '8:14 backend.docker.network',
      '9:5 backend.docker.proxy',
      '16:21 tools.toolpacks[1]',
      '32:9 agents.researcher.tools[0]',
    ],
  ],
  ['guide/pipeline.yaml', ['1:1', '14:9 agents.author.tools[2]']],
  ['guide/counted.yaml', ['1:1']],
  [
    'guide/complete.yaml',
    [
      '1:1',
      '13:3 backend.controllerUrl',
      '15:14 backend.docker.network',
      '16:5 backend.docker.proxy',
      '49:7 tools.toolpacks[2]',
      '65:9 agents.worker.tools[2]',
    ],
  ],
];

/** What some of them import. */
const imports = ['fragments/task.md', 'fragments/pm.yaml', 'prompts/task.md', 'prompts/pm.md', 'prompts/worker.md'];

const noteOf = ({ line, column, path }: { line: number; column: number; path?: string | undefined }) =>
  [`${line}:${column}`, ...(path === undefined ? [] : [path])].join(' ');

describe('a file of the published Suzumio', () => {
  test.each(files)('%s loads, whatever variables are set, and says what differs', (name, notes) => {
    for (const env of [{}, { SUZUMIO_CONTROLLER_URL: 'http://127.0.0.1:39400', HTTP_PROXY: 'http://u:p@proxy:1' }]) {
      const loaded = loadProjectFile(join(directory, name), { env });
      refuseUnsupported(loaded);
      expect(loaded.notes.map(noteOf)).toEqual(notes);
      expect(loaded.warnings).toEqual([]);
      expect(loaded.config.backend.docker.network).toBe('none');
      expect(loaded.config.backend.controllerUrl).toBeUndefined();
    }
  });

  test('may be posted as it is, but for addresses that variables hold', () => {
    const posted = (name: string) => loadProjectText(readFileSync(join(directory, name), 'utf8'), 'file');
    refuseUnsupported(posted('ai-demo.yaml'));
    expect(posted('demo.yaml').notes.map(noteOf)).toEqual(['1:1', '14:3 backend.controllerUrl']);
    const refused = problemsIn(() => posted('e2e/ramsey-explore.yaml'));
    expect(refused.map(brief)).toEqual(['variable-refused 28:20']);
    expect(refused[0]?.message).toContain('baseURLEnv: SUZUMIO_GATEWAY_BASE_URL');
  });

  test('sends as much as it did', () => {
    const { config } = loadProjectFile(join(directory, 'ai-demo.yaml'), { env: {} });
    expect(config.backend.runner.model).toBe('main');
    expect(config.backend.runner.models?.presets['main']).toMatchObject({ reasoningEffort: 'low', toolChoice: 'auto' });
  });
});

/** What is written, and what it is here. */
const aliases: [string, string][] = [
  ['scheduler: { maxSignalsPerActivation: 7 }', 'scheduler: { maxPromptMessages: 7 }'],
  ['scheduler: { kind: nonpreemptive-signals }', 'scheduler: { kind: nonpreemptive-mailbox }'],
  ['channels: [desk, "#all"]', 'channels: ["#desk", "#all"]'],
  ['tools: { toolpacks: [core, artifacts, shell] }', 'tools: { toolpacks: [core, shell] }'],
  ['tools: { toolpacks: [shell] }\n', 'tools: { toolpacks: [shell] }\n'],
  [
    'backend: { runner: { maxIterations: 8, maxToolCalls: 20, models: { default: a, presets: { a: { modelList: [b] }, b: { provider: p, model: m } }, providers: { p: { type: openai-compatible, baseURL: "http://m" } } } } }',
    'turn: { maxSteps: 8, maxToolCalls: 20 }\nbackend: { runner: { model: a, models: { presets: { a: { model-list: [b] }, b: { provider: p, model: m } }, providers: { p: { type: openai-compatible, baseURL: "http://m" } } } } }',
  ],
  [
    'backend: { runner: { models: { presets: { b: { provider: p, model: m } }, providers: { p: { type: openai, apiKey: "${OWN_API_KEY}", timeoutMs: false } } } } }',
    'backend: { runner: { models: { presets: { b: { provider: p, model: m, api: responses } }, providers: { p: { type: openai-compatible, baseURL: "https://api.openai.com/v1", apiKeyEnv: OWN_API_KEY, timeoutMs: 24d } } } } }',
  ],
  [
    'backend: { runner: { models: { presets: { b: { provider: p, model: m, providerOptions: {}, fallbacks: [] } }, providers: { p: { type: openai, options: {} } } } } }',
    'backend: { runner: { models: { presets: { b: { provider: p, model: m, api: responses } }, providers: { p: { type: openai-compatible, baseURL: "https://api.openai.com/v1", apiKeyEnv: OPENAI_API_KEY } } } } }',
  ],
  [
    'backend: { runner: { models: { presets: { b: { provider: p, model: m, providerOptions: { p: { reasoningEffort: high } } } }, providers: { p: { type: openai } } } } }',
    'backend: { runner: { models: { presets: { b: { provider: p, model: m, api: responses, reasoningEffort: high } }, providers: { p: { type: openai-compatible, baseURL: "https://api.openai.com/v1", apiKeyEnv: OPENAI_API_KEY } } } } }',
  ],
  ['platforms: [{ id: a, kind: feishu, enabled: false, appSecret: "${APP_SECRET}" }]', ''],
  [
    'communication: { coordinatorAgent: editor, restrictNonCoordinatorToCoordinator: true, nonCoordinatorMaxPriority: P2, pmRoutineVerifierPriority: P3 }',
    'communication: { coordinatorAgent: editor, restrictNonCoordinatorToCoordinator: true, nonCoordinatorMaxPriority: P2 }',
  ],
  ['scheduler: { failedNudge: { priority: P2 }, noEffectNudge: { enabled: false } }', 'scheduler: {}'],
  ['backend: { docker: { proxy: { inheritEnv: true, rewriteLocalhost: true } } }', 'backend: {}'],
];

describe('another name or form', () => {
  test.each(aliases)('%s is %s', (published, ours) => {
    const one = load(minimal(published));
    expect(one.config).toEqual(load(minimal(ours)).config);
    expect(one.notes.filter(({ line }) => line > 1)).toEqual([]);
  });

  test.each([
    ['tools: [file.read, "file.*"]', ['files']],
    ['tools: [messages.send]', []],
  ])('an agent with %s has what that takes', (tools, packs) => {
    const { config, notes } = load(minimal(`    ${tools}\n`));
    expect(config.tools.toolpacks).toEqual(['core', ...packs]);
    expect(notes).toEqual([]);
  });

  test('names one agent, without a count', () => {
    const { config, notes } = load(minimal('    names: [Ada]\nbackend: { docker: { network: bridge } }\n'));
    expect(config.agents).toMatchObject({ editor: { displayName: 'Ada' } });
    // It is no sign of another format.
    expect(config.backend.docker.network).toBe('bridge');
    expect(notes).toEqual([]);
    const more = load(minimal('    names: [Ada, Bo, Cy]\n    count: 2\n'));
    expect(more.notes.map(noteOf)).toEqual(['7:5 agents.editor.names']);
    expect(more.config.agents).toMatchObject({ 'editor-1': { displayName: 'Ada' }, 'editor-2': { displayName: 'Bo' } });
  });
});

describe('a key without effect', () => {
  test.each([
    ['scheduler: { noEffectNudge: { enabled: true } }', '7:14 scheduler.noEffectNudge'],
    ['scheduler: { allQuietNudge: { enabled: true } }', '7:14 scheduler.allQuietNudge'],
    ['communication: { pmRoutineVerifierPriority: P1 }', '7:18 communication.pmRoutineVerifierPriority'],
    ['backend: { runner: { finalPrompt: Sum up. } }', '7:22 backend.runner.finalPrompt'],
    ['backend: { docker: { memory: 1g, proxy: { http: "${NONE}" } } }', '7:22 backend.docker.memory'],
    ['observability: { http: { enabled: false } }', '7:35 observability.http.enabled'],
  ])('%s is noted', (text, expected) => {
    expect(load(minimal(text)).notes.map(noteOf)).toContain(expected);
  });

  test('of an agent is noted in the file that has it', () => {
    const { notes, config } = load({
      'project.yaml': minimal('  writer: @import(writer.yaml)\n'),
      'writer.yaml': 'workspace: old\ntools: [web.fetch, messages.send, plan.create]\n',
    });
    expect(config.agents.writer).toMatchObject({ tools: ['messages.send'] });
    expect(notes.slice(0, -1).map((note) => `${note.file.replace(/^.*\//, '')} ${noteOf(note)}`)).toEqual([
      'writer.yaml 1:12 agents.writer.workspace',
      'writer.yaml 2:9 agents.writer.tools[0]',
      'writer.yaml 2:35 agents.writer.tools[2]',
    ]);
    expect(notes.at(-2)?.message).toMatch(/^agents\.writer\.tools\[2\] \(plan\.create\): no such tool is served yet/);
  });

  test('is in no file of ours, where a network is what it was', () => {
    const { notes, config } = load(
      minimal('backend: { docker: { network: bridge }, controllerUrl: "http://toolhost:39411" }'),
    );
    expect(notes).toEqual([]);
    expect(config.backend).toMatchObject({ docker: { network: 'bridge' }, controllerUrl: 'http://toolhost:39411' });
  });
});

const providers = (fields: string) => `backend: { runner: { models: { providers: { p: { ${fields} } } } } }`;

test('what agents leave in /artifacts is published where the file is of the published format, as others found it there', () => {
  const loaded = (more: string, tools: string) =>
    load(minimal(`    tools: [${tools}]\ntools: { toolpacks: [core, shell, files] }\n${more}`)).config.agents['editor']
      ?.tools;
  const foreign = 'backend: { kind: docker-chat }\n';
  expect(loaded(foreign, 'shell.exec, "file.*"')).toEqual(['shell.exec', 'file.*', 'artifacts.publish']);
  for (const tools of ['messages.send, file.read', 'shell.exec, "artifacts.*"', 'shell.exec, "*"']) {
    expect(loaded(foreign, tools)).not.toContain('artifacts.publish');
  }
  expect(loaded('', 'shell.exec')).toEqual(['shell.exec']);
});

test('a command that was not offered is noted in a file of the published format, and refused in one of ours', () => {
  const tools = '    tools: [messages.send, shell.exec]\n';
  const { config, notes } = load(minimal(`${tools}backend: { kind: docker-chat }\n`));
  expect(config.agents).toMatchObject({ editor: { tools: ['messages.send'] } });
  expect(config.tools.toolpacks).toEqual(['core']);
  expect(notes.map(noteOf)).toEqual(['1:1', '7:28 agents.editor.tools[1]']);
  expect(problemsOf(minimal(tools)).map(brief)).toEqual(['toolpack-missing 7:28']);
});

describe('what cannot be honoured is refused with the line that would be right', () => {
  test.each([
    [
      'backend: { runner: { models: { presets: { b: { provider: p, model: m, headers: { Authorization: "Bearer x" } } }, providers: { p: { type: openai } } } } }',
      'secret-in-file 7:97',
      'this looks like a key',
    ],
    [providers('type: anthropic'), 'key-refused 7:56', 'write type: openai-compatible and baseURL: https://api.anth'],
    [providers('type: openai, apiKey: abc'), 'secret-in-file 7:64', 'write apiKeyEnv: NAME'],
    [providers('type: openai, options: { a: b }'), 'key-refused 7:64', 'or no options'],
    ['platforms: [{ id: a, kind: feishu, appSecret: "${APP_SECRET}" }]', 'key-refused 7:1', 'enabled: false'],
    [
      'communication: { restrictNonCoordinatorToCoordinator: true }',
      'agent-unknown 7:55',
      'there is no agent pm to coordinate',
    ],
    [
      'communication: { coordinatorAgent: lead, restrictNonCoordinatorToCoordinator: true }',
      'agent-unknown 7:36',
      'there is no agent lead to coordinate',
    ],
    ['tools: { toolpacks: [{ path: own }] }', 'file-missing 7:30', 'there is no file'],
    ['  Writer One: {}', 'key-invalid 7:3', 'write writer-one:'],
  ])('%s', (text, place, line) => {
    const problems = problemsOf(minimal(text));
    expect(problems.map(brief)).toEqual([place]);
    expect(problems[0]?.message).toContain(line);
  });

  test.each([
    ['scheduler: { maxSignalsPerActivation: 5, maxPromptMessages: 6 }', '7:14'],
    ['backend: { runner: { maxIterations: 5 } }\nturn: { maxSteps: 6 }', '7:22'],
    [providers('type: openai, apiKey: "${A_KEY}", apiKeyEnv: B_KEY'), '7:64'],
  ])('two names with two values: %s', (text, place) => {
    const problems = problemsOf(minimal(text));
    expect(problems.map(brief)).toEqual([`keys-contradict ${place}`]);
    expect(problems[0]?.message).toMatch(/ and .* \(line \d+, column \d+\) are two names of one field/);
    expect(problemsOf(minimal(text.replace('6', '5').replace('B_KEY', 'A_KEY')))).toEqual([]);
  });

  test('and a secret is never told', () => {
    const secret = 'sk-proj-Abcdefghijklmnop12345678';
    const text = minimal(`channels: [${secret}]\nplatforms: [{ appSecret: ${secret} }]\n`);
    for (const problems of [
      problemsOf(text),
      problemsIn(() => loadProjectText(text.replace('demo', secret), 'file')),
    ]) {
      expect(JSON.stringify(problems)).not.toContain('bcdefghijklmnop');
    }
  });
});

describe('imported, a file of the published Suzumio', () => {
  test.each(files)('%s means the same, without notes', (name, notes) => {
    const { text, changes } = importPublishedFile(join(directory, name), {});
    const place = join(directory, dirname(name));
    const beside = Object.fromEntries(
      imports
        .filter((file) => existsSync(join(place, file)))
        .map((file) => [file, readFileSync(join(place, file), 'utf8')]),
    );
    const imported = load({ 'project.yaml': text, ...beside });
    expect(imported.notes).toEqual([]);
    expect(imported.config).toEqual(loadProjectFile(join(directory, name), { env: {} }).config);
    expect(changes.length > 0).toBe(notes.length > 0);
  });

  test('keeps comments, variables, and imports that need no change', () => {
    const files = {
      'project.yaml': `# A team.
extends:
  - @import(base/base.yaml)
name: team # ours
task: @import(task.md)
agents:
  # Who leads.
  pm: &pm { prompt: "Lead in \${LANGUAGE:-English}.", workspace: old, tools: ["file.*"] }
  worker: *pm
turn: @import(turn.yaml)
`,
      'task.md': 'Do it.',
      'turn.yaml': 'timeout: 5m\n',
      'base/base.yaml': `# Of all teams.
backend:
  docker: { proxy: { http: "\${HTTP_PROXY}" } }
  runner:
    mode: mock
    maxIterations: 8 # enough
agents: { pm: { prompt: @import(pm.md), role: lead } }
`,
      'base/pm.md': 'Not read.',
    };
    withFiles(files, (directory) => {
      const path = join(directory, 'project.yaml');
      const { text, changes } = importPublishedFile(path, {});
      expect(text).toBe(`# A team.
# Of all teams.
backend:
  runner:
    mode: mock
agents:
  # Who leads.
  pm: { prompt: "Lead in \${LANGUAGE:-English}.", role: lead, tools: [ "file.*", artifacts.publish ] }
  worker: { prompt: "Lead in \${LANGUAGE:-English}.", tools: [ "file.*", artifacts.publish ] }
name: team # ours
task: "@import(task.md)"
turn:
  timeout: 5m
  maxSteps: 8 # enough
tools:
  toolpacks:
    - files
`);
      expect(
        changes.map(
          ({ file, line, message }) => `${file.replace(`${directory}/`, '')}:${line} ${message.split(': ')[0]}`,
        ),
      ).toEqual([
        'base/base.yaml:3 backend.docker.proxy',
        'base/base.yaml:6 backend.runner.maxIterations',
        'project.yaml:8 agents.worker.workspace',
        'project.yaml:8 agents.pm.workspace',
        'project.yaml:8 agents.worker.tools[0] (file.*)',
        'project.yaml:8 agents.worker.tools[0] (file.*)',
        'project.yaml:8 agents.pm.tools[0] (file.*)',
      ]);
      const before = loadProjectFile(path, { env: {} }).config;
      writeFileSync(path, text);
      const after = loadProjectFile(path, { env: {} });
      expect(after.config).toEqual(before);
      expect(after.notes).toEqual([]);
      expect(importPublishedFile(path, {})).toEqual({ text, changes: [] });
    });
  });

  test('is refused for what cannot be written, with the line that would be right', () => {
    const text = minimal('platforms: [{ id: a, kind: feishu }]\n');
    withFiles({ 'project.yaml': text }, (directory) => {
      const problems = problemsIn(() => importPublishedFile(join(directory, 'project.yaml'), {}));
      expect(problems.map(brief)).toEqual(['key-refused 7:1']);
    });
  });
});
