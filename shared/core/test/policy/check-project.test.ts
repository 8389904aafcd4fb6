import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { loadProjectText } from '@suzumio/core/profiles/load-project';
import { loadProjectFile } from '@suzumio/runtime/disk/load-project-file';
import { renderConfig } from '@suzumio/core/config/render-config';
import { projectDenials, refuseByPolicy } from '@suzumio/core/policy/check-project';
import { directoryOf, grantFor, withGrant } from '@suzumio/core/policy/grant';
import { type HostPaths, unseenHost } from '@suzumio/core/policy/host-paths';
import { hostPaths } from '@suzumio/runtime/disk/this-host';
import { resolvePolicy } from '@suzumio/core/policy/resolve-policy';
import { defaultPolicy, type Policy } from '@suzumio/core/policy/policy';
import { load, minimal, problemsIn, withFiles } from '../config/project-files.js';

const denied = (file: string, policy: Partial<Policy> = {}) =>
  projectDenials({ ...defaultPolicy, ...policy }, load(file).config, unseenHost).map(
    ({ field, rule }) => `${field} ${rule}`,
  );

describe('a project', () => {
  test('that asks for nothing is allowed by the defaults', () => {
    expect(denied(minimal())).toEqual([]);
  });

  test('is told of a field by its place in the file, also where agents were counted', () => {
    const file = minimal(`    count: 3
    env: { PATH: /x }
    mounts: [{ source: /srv/own, target: /own }]
backend:
  docker:
    network: host
    mounts: [{ source: /srv/a, target: /a }]
`);
    const project = load(file);
    const problems = problemsIn(() => {
      refuseByPolicy(project, defaultPolicy, unseenHost);
    });
    expect(problems.map(({ code, line, column, message }) => [code, line, column, message.split(':')[0]])).toEqual([
      ['policy-denied', 8, 18, 'agents.editor-1.env.PATH'],
      ['policy-denied', 9, 24, 'agents.editor-1.mounts[0].source'],
      ['policy-denied', 12, 14, 'backend.docker.network'],
      ['policy-denied', 13, 24, 'backend.docker.mounts[0].source'],
    ]);
  });

  test('is judged the same when it is rendered', () => {
    const { config } = load(minimal('    env: { LD_X: y }\nbackend: { image: a/b, docker: { user: 0 } }\n'));
    const rendered = loadProjectText(renderConfig(config), 'rendered.yaml').config;
    const judged = projectDenials(defaultPolicy, rendered, unseenHost);
    expect(judged).toEqual(projectDenials(defaultPolicy, config, unseenHost));
    expect(judged.map(({ rule }) => rule)).toEqual(['env.forbidden', 'images', 'root']);
  });

  test('has its limits held against the ceilings', () => {
    const limits = 'docker: { memory: 5g, cpus: 5, pids: 5000, tmpfs: { /a: 2g }, keepFor: 2d, readOnlyRoot: false }';
    expect(
      denied(
        minimal(
          `backend: { ${limits} }\nturn: { timeout: 5h, maxSteps: 1001, maxToolCalls: 5001 }\nworkspace: { maxBytes: 2g, maxFiles: 20001 }\n`,
        ),
      ),
    ).toEqual([
      'turn.timeout ceilings.timeout',
      'workspace.maxBytes ceilings.workspaceBytes',
      'workspace.maxFiles ceilings.workspaceFiles',
      'backend.docker.readOnlyRoot writableRoot',
      'backend.docker.memory ceilings.memory',
      'backend.docker.cpus ceilings.cpus',
      'backend.docker.pids ceilings.pids',
      'backend.docker.tmpfs ceilings.tmpfs',
      'backend.docker.keepFor ceilings.keepFor',
      'turn.maxSteps ceilings.maxSteps',
      'turn.maxToolCalls ceilings.maxToolCalls',
    ]);
  });

  test('gets an agent its own mount in place of the one of the project', () => {
    const file = minimal(`    mounts: [{ source: /srv/own, target: /a }]
backend: { docker: { mounts: [{ source: /etc, target: /a }] } }
`);
    expect(denied(file, { mounts: { roots: [{ path: '/srv', readonly: true }] } })).toEqual([]);
  });

  test('copies workspaces from directories that are opened for that, or may be mounted', () => {
    const file = minimal('    workspace: { from: /srv/a/readings }\n');
    const expected = ['agents.editor.workspace.from workspaces.roots'];
    expect(denied(file)).toEqual(expected);
    expect(denied(file, { workspaces: { roots: ['/srv/ab'] } })).toEqual(expected);
    expect(denied(file, { workspaces: { roots: ['/srv/a'] } })).toEqual([]);
    expect(denied(file, { mounts: { roots: [{ path: '/srv', readonly: true }] } })).toEqual([]);
    expect(denied(minimal('    workspace: { from: /proc/self }\n'), { workspaces: { roots: ['/proc'] } })).toEqual(
      expected,
    );
  });

  test('clones the repositories that are listed, by pattern or by path', () => {
    const file = (git: string) => minimal(`    workspace: { git: "${git}" }\n`);
    const refused = ['agents.editor.workspace.git git'];
    const policy = { git: ['https://git.example/tides/*', '/srv/repositories/**', '/srv/one'] };
    expect(denied(file('https://git.example/tides/app'))).toEqual(refused);
    expect(denied(file('https://git.example/tides/app'), policy)).toEqual([]);
    expect(denied(file('https://git.example/tides/a/b'), policy)).toEqual(refused);
    expect(denied(file('https://git.example.evil.example/tides/app'), policy)).toEqual(refused);
    expect(denied(file('/srv/repositories/a/b.git'), policy)).toEqual([]);
    expect(denied(file('/srv/repositories/../secret'), policy)).toEqual(refused);
    expect(denied(file('/srv/one'), policy)).toEqual([]);
    expect(denied(file('/srv/one/more'), policy)).toEqual(refused);
    expect(denied(file('/proc/self/cwd'), { git: ['/**'] })).toEqual(['agents.editor.workspace.git protected']);
  });

  test('clones no repository to which a link leads out of the listed ones', () => {
    const links: Readonly<Record<string, string>> = { '/srv/open/link': '/home/secret', '/srv/alias': '/srv/real' };
    const host: HostPaths = {
      ...unseenHost,
      lookUp: (path) => ({ real: links[path] ?? path, kind: 'directory' }),
    };
    const rules = (git: string, patterns: string[]) =>
      projectDenials(
        { ...defaultPolicy, git: patterns },
        load(minimal(`    workspace: { git: ${git} }\n`)).config,
        host,
      );
    expect(rules('/srv/open/link', ['/srv/open/**'])).toHaveLength(1);
    expect(rules('/srv/open/other', ['/srv/open/**'])).toEqual([]);
    // The links of a rule are followed once, when the policy is read.
    expect(rules('/srv/real', ['/srv/alias'])).toHaveLength(1);
    expect(resolvePolicy({ ...defaultPolicy, git: ['/srv/alias', '/srv/alias/**', '**'] }, host).git).toEqual([
      '/srv/real',
      '/srv/real/**',
      '**',
    ]);
  });

  test.each<[string, string[]]>([
    ['baseURL: "https://a.example/v1", apiKeyEnv: A_KEY', []],
    ['baseURLEnv: B_URL, apiKeyEnv: B_KEY', []],
    ['baseURL: "https://a.example/v1", apiKeyEnv: PATH', ['apiKeyEnv']],
    ['baseURL: "https://a.example/v1", apiKeyEnv: B_KEY', ['apiKeyEnv']],
    ['baseURL: "https://a.example/v1"', ['apiKeyEnv']],
    ['baseURL: "https://evil.example/v1", apiKeyEnv: A_KEY', ['baseURL']],
    ['baseURL: "https://a.example/v1/../../x", apiKeyEnv: A_KEY', ['baseURL']],
    ['baseURLEnv: A_KEY, apiKeyEnv: B_KEY', ['baseURLEnv']],
  ])('calls models only where their key may be sent: { %s }', (provider, fields) => {
    const providers = [
      { baseURL: 'https://a.example/v1', apiKeyEnv: 'A_KEY' },
      { baseURLEnv: 'B_URL', apiKeyEnv: 'B_KEY' },
    ];
    const models = `{ providers: { p: { type: openai-compatible, ${provider} } } }`;
    expect(denied(minimal(`backend: { runner: { models: ${models} } }\n`), { providers })).toEqual(
      fields.map((field) => `backend.runner.models.providers.p.${field} providers`),
    );
  });

  test('brings no code to the ToolHost that is not named', () => {
    const file = minimal(`tools:
  toolpacks:
    - { id: a, path: /srv/packs/a }
    - { id: b, mcp: { command: node, args: [/srv/mcp.mjs], env: { NODE_OPTIONS: x } } }
    - { id: c, mcp: { url: "https://t.example" } }
`);
    const deniedOf = (allowed: Partial<Policy> = {}) =>
      projectDenials({ ...defaultPolicy, ...allowed }, loadProjectText(file, 'file').config, unseenHost).map(
        ({ field, rule }) => `${field} ${rule}`,
      );
    expect(deniedOf()).toEqual([
      'tools.toolpacks[1].path toolpacks.directories',
      'tools.toolpacks[2].mcp.env.NODE_OPTIONS env.forbidden',
      'tools.toolpacks[2].mcp.command toolpacks.mcpCommands',
      'tools.toolpacks[3].mcp.url toolpacks.mcpUrls',
    ]);
    const toolpacks = {
      directories: ['/srv/packs'],
      mcpCommands: [['node', '/srv/mcp.mjs']],
      mcpUrls: ['https://t.example'],
    };
    expect(deniedOf({ toolpacks })).toEqual(['tools.toolpacks[2].mcp.env.NODE_OPTIONS env.forbidden']);
  });

  const thinker = minimal(`backend:
  runner:
    mode: ai
    model: own
    models:
      providers: { one: { type: openai-compatible, baseURL: 'http://m/v1' } }
      presets:
        own: { provider: one, model: mine, price: { input: 0, output: 0 } }
        listed: { provider: one, model: nice-name, apiModel: vendor/large-1 }
`);
  const counted = (one: Omit<Policy['providers'][number], 'baseURL'>, dayBudget: boolean) => {
    const policy = { ...defaultPolicy, providers: [{ baseURL: 'http://m/v1', ...one }] };
    return projectDenials(policy, load(thinker).config, unseenHost, { dayBudget }).map(
      ({ field, rule }) => `${field} ${rule}`,
    );
  };
  const own = 'backend.runner.models.presets.own.model providers.models';
  const listed = 'backend.runner.models.presets.listed.model providers.models';
  const models = [{ name: 'vendor/*', price: { input: 1, output: 2 } }];

  test('asks only the models that are listed, by the names that their provider has for them', () => {
    expect(counted({}, false)).toEqual([]);
    expect(counted({ models }, false)).toEqual([own]);
    expect(counted({ models: [{ name: 'nice-name' }, { name: 'mine' }] }, false)).toEqual([listed]);
  });

  test('needs a price in the policy for each of its models where the day has a budget, or to be believed its own', () => {
    expect(counted({}, true)).toEqual([own, listed]);
    expect(counted({ models: [...models, { name: 'mine' }] }, true)).toEqual([own]);
    expect(counted({ models: [...models, { name: 'mine' }], ownPrices: true }, true)).toEqual([]);
    expect(counted({ ownPrices: true }, true)).toEqual([listed]);
  });

  test('of one’s own disk is believed its prices with the providers that were agreed to, but not those of the policy', () => {
    const grant = {
      directories: [],
      readonly: [],
      images: [],
      git: [],
      toolpacks: [],
      providers: [{ baseURL: 'http://m/v1' }],
    };
    const rules = (policy: Policy) =>
      projectDenials(withGrant(policy, grant), load(thinker).config, unseenHost, { dayBudget: true }).map(
        ({ field }) => field,
      );
    expect(rules(defaultPolicy)).toEqual(['backend.runner.models.presets.listed.model']);
    const strict = { ...defaultPolicy, providers: [{ baseURL: 'http://m/v1', models }] };
    expect(rules(strict)).toEqual(['backend.runner.models.presets.own.model']);
  });

  test('of a thousand agents has each of its paths looked at once', () => {
    const mounts = Array.from({ length: 32 }, (_, at) => `{ source: /srv/${String(at)}, target: /m${String(at)} }`);
    const { config } = load(minimal(`    count: 1000\n    mounts: [${mounts.join(', ')}]\n`));
    const looked: string[] = [];
    const host: HostPaths = {
      ...unseenHost,
      lookUp: (path) => {
        looked.push(path);
        return undefined;
      },
    };
    expect(projectDenials(defaultPolicy, config, host)).toHaveLength(32);
    expect(looked).toHaveLength(new Set(looked).size);
  });
});

describe("a file of one's own disk", () => {
  const nothing = { policy: defaultPolicy, providers: [], toolpacks: [] };
  const file = minimal(`    workspace: { from: seeds }
backend:
  image: my/runner:1
  docker: { mounts: [{ source: data, target: /data, readonly: false }] }
`);

  test('is granted its directory and its image, and nothing else', () => {
    withFiles({ 'project.yaml': file, 'data/a': '', 'seeds/a': '' }, (directory) => {
      const loaded = loadProjectFile(join(directory, 'project.yaml'), { env: {} });
      const host = hostPaths([], { mounting: true });
      const own = { ...defaultPolicy, workspaces: { roots: directoryOf(loaded.files) } };
      const grant = grantFor(loaded, projectDenials(own, loaded.config, host), { ...nothing, host });
      expect(grant).toEqual({
        directories: [join(directory, 'data')],
        readonly: [directory],
        images: ['my/runner:1'],
        git: [],
        toolpacks: [],
        providers: [],
      });
      if (!grant) return;
      expect(projectDenials(withGrant(own, grant), loaded.config, host)).toEqual([]);

      mkdirSync(join(directory, 'sub'));
      symlinkSync('/etc', join(directory, 'sub/link'));
      writeFileSync(join(directory, 'greedy.yaml'), file.replace('source: data', 'source: sub/link'));
      const greedy = loadProjectFile(join(directory, 'greedy.yaml'), { env: {} });
      expect(projectDenials(withGrant(own, grant), greedy.config, host).map(({ rule }) => rule)).toEqual([
        'mounts.roots',
      ]);
    });
  });

  test('that asks for nothing more is granted nothing, and a posted one has no directory', () => {
    expect(grantFor(load(minimal()), [], { ...nothing, host: unseenHost })).toBeUndefined();
    expect(directoryOf(loadProjectText(minimal(), 'file').files)).toEqual([]);
    expect(directoryOf(['/project.yaml'])).toEqual([]);
  });

  test('is granted clones of https addresses, and of repositories beside it', () => {
    const agent = (id: string, git: string) => `  ${id}: { role: r, prompt: p, workspace: { git: "${git}" } }\n`;
    const text =
      minimal('').trimEnd() +
      `\n${agent('a', 'https://git.example/a')}${agent('b', 'http://git.example/b')}${agent('c', '.')}${agent('d', '../other')}`;
    withFiles({ 'project.yaml': text }, (directory) => {
      const loaded = loadProjectFile(join(directory, 'project.yaml'), { env: {} });
      const host = hostPaths([], { mounting: true });
      const grant = grantFor(loaded, projectDenials(defaultPolicy, loaded.config, host), { ...nothing, host });
      expect(grant?.git).toEqual(['https://git.example/a', directory]);
      const left = projectDenials(withGrant(defaultPolicy, grant ?? raise()), loaded.config, host);
      expect(left.map(({ field }) => field)).toEqual(['agents.b.workspace.git', 'agents.d.workspace.git']);
    });
  });
});

describe('a repository in which agents may write', () => {
  const rules = (git: string, { policy = {}, writable = [] }: { policy?: Partial<Policy>; writable?: string[] }) => {
    const host: HostPaths = {
      ...unseenHost,
      lookUp: (path) => ({ real: path, kind: 'directory' }),
      writable: () => writable,
    };
    const { config } = load(minimal(`    workspace: { git: ${git} }\n`));
    return projectDenials({ ...defaultPolicy, git: ['/srv/**'], ...policy }, config, host).map(({ rule }) => rule);
  };
  const mounts = { roots: [{ path: '/srv/exchange', readonly: false }] };

  test('is not cloned: below a directory, in it, or with one in what Git reads', () => {
    expect(rules('/srv/exchange/tides', { policy: { mounts } })).toEqual(['writable']);
    expect(rules('/srv/exchange', { policy: { mounts } })).toEqual(['writable']);
    expect(rules('/srv/tides', { writable: ['/srv/tides'] })).toEqual(['writable']);
    expect(rules('/srv/tides', { writable: ['/srv'] })).toEqual(['writable']);
    expect(rules('/srv/tides', { writable: ['/srv/tides/.git/objects'] })).toEqual(['writable']);
  });

  test('is another matter beside what they may write, and where they only read', () => {
    expect(rules('/srv/tides', { policy: { mounts }, writable: ['/srv/tides/out'] })).toEqual([]);
    expect(rules('/srv/tides', { policy: { mounts: { roots: [{ path: '/srv', readonly: true }] } } })).toEqual([]);
  });

  test('is named by no grant: what the policy names is mounted for reading alone', () => {
    const text = minimal(`    mounts: [{ source: ., target: /data, readonly: false }]\n`);
    withFiles({ 'project.yaml': text, 'tides/a': '' }, (directory) => {
      const loaded = loadProjectFile(join(directory, 'project.yaml'), { env: {} });
      const host = hostPaths([], { mounting: true });
      const policy = { ...defaultPolicy, git: [join(directory, 'tides')] };
      const grant = grantFor(loaded, projectDenials(policy, loaded.config, host), {
        policy,
        providers: [],
        toolpacks: [],
        host,
      });
      expect(grant).toMatchObject({ directories: [], readonly: [directory] });
    });
  });
});

function raise(): never {
  throw new Error('there is no grant');
}
