import { describe, expect, test } from '@jest/globals';
import type { ProjectConfig } from '@suzumio/contract/model/project-config';
import { loadProjectText } from '@suzumio/core/profiles/load-project';
import { renderConfig } from '@suzumio/core/config/render-config';
import { refuseUnsupported, unsupportedFields } from '@suzumio/core/config/unsupported';
import { ConfigErrors } from '@suzumio/core/config/config-problem';
import { load, minimal, problemsIn } from './project-files.js';

const enforced = `
channels: ["#a", { name: "#b", members: [editor] }]
scheduler: { maxPromptMessages: 5, maxPromptBytes: 8k, intervalMs: 1s, maxConcurrentTurns: 2 }
backend:
  image: other:1
  docker: { memory: 64m, cpus: 0.5, pids: 64, user: "1000", readOnlyRoot: false, tmpfs: { /run: 1m }, keep: always, keepFor: 1m, network: bridge, runtime: runc, mounts: [{ source: /srv/a, target: /a }] }
  controllerUrl: http://toolhost:39500
  runner: { mode: mock }
turn: { timeout: 1m, maxToolCalls: 5, maxAttempts: 1, startDeadline: 1m }
`;

const refused: [string, string][] = [
  ['backend.controllerUrl', 'backend: { controllerUrl: "http:", docker: { network: bridge }, runner: { mode: mock } }'],
  ['backend.controllerUrl', 'backend: { controllerUrl: "file:/x", docker: { network: a }, runner: { mode: mock } }'],
  ['backend.docker.passProviderKeys', 'backend: { docker: { passProviderKeys: true }, runner: { mode: mock } }'],
  [
    'backend.docker.mounts',
    'backend: { kind: process, docker: { mounts: [{ source: a, target: /a }] }, runner: { mode: mock } }',
  ],
  ['backend.docker.warm', 'backend: { docker: { warm: { max: 1, idle: 1m } }, runner: { mode: mock } }'],
  [
    'tools.toolpacks: the toolpack own',
    'tools: { toolpacks: [core, { id: own, mcp: { url: "https://t.example" } }] }\nbackend: { runner: { mode: mock } }',
  ],
];

describe('what this version does not enforce', () => {
  test('is nothing of what it does enforce, rendered or not', () => {
    const project = load(
      minimal(
        `    workspace: { from: readings }\n    env: { A: b }\n    backend: docker\n    mounts: [{ source: b, target: /b }]\n${enforced}`,
      ),
    );
    expect(unsupportedFields(project.config)).toEqual([]);
    refuseUnsupported(project);
    refuseUnsupported(loadProjectText(renderConfig(project.config), 'posted.yaml'));
  });

  test.each(refused)('%s is refused', (field, rest) => {
    const problems = problemsIn(() => {
      refuseUnsupported(load(minimal(rest)));
    });
    expect(problems).toHaveLength(1);
    expect(problems[0]?.code).toBe('not-supported-yet');
    expect(problems[0]?.message).toMatch(`${field} is not supported yet: `);
  });

  test('is refused in a rendered file, where nothing is left out', () => {
    const { config } = load(minimal('backend: { runner: { mode: mock } }\n'));
    const asking: ProjectConfig = {
      ...config,
      backend: { ...config.backend, controllerUrl: 'http://x' },
      tools: { toolpacks: ['core', 'web'] },
      observability: { ...config.observability, http: { ...config.observability.http, enabled: false } },
    };
    const again = loadProjectText(renderConfig(asking), 'rendered.yaml').config;
    expect(unsupportedFields(again).map(({ path }) => path.join('.'))).toEqual([
      'backend.controllerUrl',
      'tools.toolpacks.1',
      'observability.http.enabled',
    ]);
  });

  test.each(['mounts: [{ source: a, target: /a }]', 'env: { A: b }', 'workspace: { from: a }'])(
    '%s is refused of an agent whose handler runs elsewhere',
    (field) => {
      const project = load(minimal(`    ${field}\n    backend: external\n    count: 3\n`));
      const problems = problemsIn(() => {
        refuseUnsupported(project);
      });
      expect(problems.map(({ line, column }) => [line, column])).toEqual([[7, 5 + field.indexOf(':') + 2]]);
      const name = field.slice(0, field.indexOf(':'));
      expect(problems[0]?.message).toMatch(`agents.editor-1.${name} is not supported yet`);
    },
  );

  test('is no external agent, which needs no model either', () => {
    expect(unsupportedFields(load(minimal('    backend: external\n')).config)).toEqual([]);
  });

  test('is a part of a history where a repository is shared', () => {
    const agent = '    workspace: { git: /srv/a, depth: 1 }\n';
    const rest = 'backend: { runner: { mode: mock } }\n';
    expect(unsupportedFields(load(minimal(agent + rest)).config)).toEqual([]);
    const shared = load(minimal(`${agent}git: { shared: true }\n${rest}`)).config;
    expect(unsupportedFields(shared).map(({ path }) => path.join('.'))).toEqual(['agents.editor.workspace.depth']);
  });

  test('is a mount of an agent that runs as a process', () => {
    const agent =
      '    backend: process\n    mounts: [{ source: a, target: /a }]\nbackend: { runner: { mode: mock } }\n';
    const problems = problemsIn(() => {
      refuseUnsupported(load(minimal(agent)));
    });
    expect(problems.map(({ line, message }) => [line, message.split(' ')[0]])).toEqual([[8, 'agents.editor.mounts']]);
  });

  test('is told with its place, and how to go on', () => {
    const { code, message } = refusalOf(
      `tools: { toolpacks: [files, { id: own, mcp: { url: "https://t.example" } }, shell] }\nbackend: { runner: { mode: mock } }\n`,
    );
    expect(code).toBe('not-supported-yet');
    expect(message).toMatch(
      /project\.yaml:7:29 {2}tools\.toolpacks: the toolpack own is not supported yet: only core, memory, files, shell, workspace and directories of your own are served yet$/,
    );
  });

  test('is told from a model that is missing: nothing else is wrong then', () => {
    const { code, message } = refusalOf('');
    expect(code).toBe('invalid-config');
    expect(message).toMatch(/project\.yaml:\d+:\d+ {2}agent editor has no model to think with: name a preset/);
  });
});

function refusalOf(more: string): ConfigErrors {
  try {
    refuseUnsupported(load(minimal(more)));
  } catch (thrown) {
    if (thrown instanceof ConfigErrors) return thrown;
    throw thrown;
  }
  throw new Error('it was not refused');
}
