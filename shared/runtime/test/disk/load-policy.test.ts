import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { loadPolicy } from '@suzumio/runtime/disk/load-policy';
import { policyFileOf } from '@suzumio/runtime/disk/policy-file';
import { defaultPolicy } from '@suzumio/core/policy/policy';
import { brief, problemsIn, withFiles } from '../../../core/test/config/project-files.js';

const load = (text: string) =>
  withFiles({ 'policy.yaml': text }, (directory) => loadPolicy(join(directory, 'policy.yaml')));
const problems = (text: string) => problemsIn(() => load(text));

describe('a policy', () => {
  test('that is not written allows sealed containers of the runner image, and nothing of the host', () => {
    expect(loadPolicy(undefined)).toEqual(defaultPolicy);
    expect(defaultPolicy).toMatchObject({
      backends: ['docker'],
      images: ['suzumio-runner:*'],
      networks: ['none'],
      runtimes: [],
      writableRoot: false,
      mounts: { roots: [] },
      workspaces: { roots: [] },
      git: [],
      providers: [],
      toolpacks: { directories: [], mcpCommands: [], mcpUrls: [] },
    });
  });

  test('keeps the defaults of what it does not name, and replaces a list that it names', () => {
    const policy = load('images: [team/*]\nceilings: { memory: 8g }\nmounts: { roots: [{ path: /srv/data }] }\n');
    expect(policy).toEqual({
      ...defaultPolicy,
      images: ['team/*'],
      ceilings: { ...defaultPolicy.ceilings, memory: 8 * 1024 ** 3 },
      mounts: { roots: [{ path: '/srv/data', readonly: true }] },
    });
  });

  test.each([
    ['netwroks: [bridge]', 'field-unknown 1:1', 'did you mean `networks`?'],
    ['ceilings:\n  memroy: 1g', 'field-unknown 2:3', 'did you mean `memory`?'],
    ['backends: [dokcer]', 'value-invalid 1:12', 'did you mean docker?'],
    ['backends: []', 'value-invalid 1:11', 'at least 1'],
    ['mounts: { roots: [{ path: / }] }', 'value-invalid 1:27', 'not /'],
    ['mounts: { roots: [{ path: data }] }', 'value-invalid 1:27', 'absolute path'],
    ['networks: ["container:db"]', 'value-invalid 1:12', 'a name'],
    [
      'providers: [{ baseURL: "https://a.example", apiKeyEnv: "not-a-variable" }]',
      'value-invalid 1:56',
      'not its value',
    ],
    ['providers: [{ baseURL: nonsense }]', 'value-invalid 1:24', 'begins with http'],
    ['providers: [{ baseURL: api.example/v1 }]', 'value-invalid 1:24', 'such as https://'],
    ['providers: [{ baseURL: "file:///v1" }]', 'value-invalid 1:24', 'begins with http'],
    ['providers: [{ apiKeyEnv: KEY }]', 'value-invalid 1:13', 'baseURL'],
    ['ceilings: { timeout: soon }', 'value-invalid 1:22', 'not a duration'],
    [
      'mounts: { roots: [{ path: /srv/x, readonly: false }, { path: /srv/x/y }] }',
      'rule-writable 1:62',
      'mounts.roots[1].path: lies in /srv/x',
    ],
    ['mounts: { roots: [{ path: /srv/x, readonly: false }] }\ngit: [/srv/x/tides]', 'rule-writable 2:7', 'git[0]'],
    ['mounts: { roots: [{ path: /srv/x, readonly: false }] }\ngit: ["/srv/x/*"]', 'rule-writable 2:7', 'for writing'],
    ['images: [a\n', 'yaml-syntax 2:1', ''],
    ['# nothing\n', 'document-count 1:1', 'empty'],
  ])('with a mistake in it is refused: %j', (text, expected, message) => {
    const [first] = problems(text);
    expect(first && brief(first)).toBe(expected);
    expect(first?.message).toContain(message);
  });

  test('means the directories that are there when it is read', () => {
    withFiles({ 'real/tides/a': '', 'policy.yaml': '' }, (root) => {
      symlinkSync(join(root, 'real'), join(root, 'link'));
      const file = join(root, 'policy.yaml');
      const roots = `roots: [{ path: ${root}/link/tides }, { path: ${root}/link/later }]`;
      writeFileSync(file, `mounts: { ${roots} }\ngit: ["${root}/link/*", "https://git.example/*", "${root}/li*"]\n`);
      const { mounts, git } = loadPolicy(file);
      expect(mounts.roots.map(({ path }) => path)).toEqual([`${root}/real/tides`, `${root}/real/later`]);
      expect(git).toEqual([`${root}/real/*`, 'https://git.example/*', `${root}/li*`]);
    });
  });

  test('names nothing in a directory to which a link leads that agents may write in', () => {
    withFiles({ 'shared/tides/a': '', 'policy.yaml': '' }, (root) => {
      symlinkSync(join(root, 'shared'), join(root, 'link'));
      const file = join(root, 'policy.yaml');
      const shared = `mounts: { roots: [{ path: ${root}/shared, readonly: false }] }\n`;
      writeFileSync(file, `${shared}workspaces: { roots: [${root}/link/tides] }\n`);
      expect(problemsIn(() => loadPolicy(file))).toMatchObject([{ code: 'rule-writable' }]);
    });
  });

  test('that is named and not there is a mistake, not the defaults', () => {
    expect(problemsIn(() => loadPolicy('/nowhere/policy.yaml'))).toMatchObject([{ code: 'file-missing' }]);
  });

  test('is the one that is named, else that of the data directory', () => {
    withFiles({ 'policy.yaml': 'images: []\n' }, (root) => {
      expect(policyFileOf(root, undefined)).toBe(join(root, 'policy.yaml'));
      expect(policyFileOf(root, '/etc/policy.yaml')).toBe('/etc/policy.yaml');
      expect(policyFileOf(join(root, 'elsewhere'), undefined)).toBeUndefined();
    });
  });
});
