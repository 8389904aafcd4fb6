import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { renderConfig } from '@suzumio/core/config/render-config';
import { unsupportedFields } from '@suzumio/core/config/unsupported';
import { projectDenials } from '@suzumio/core/policy/check-project';
import { takenDenials } from '@suzumio/core/policy/check-toolpack';
import { defaultPolicy } from '@suzumio/core/policy/policy';
import { loadProjectText } from '@suzumio/core/profiles/load-project';
import { importPublishedFile, loadProjectFile } from '@suzumio/runtime/disk/load-project-file';
import { hostPaths } from '@suzumio/runtime/disk/this-host';
import { brief, type Files, load, minimal, problemsIn, problemsOf, withFiles } from './project-files.js';

const tool = (name: string, more = {}) => ({ name, description: 'Does it.', inputSchema: { type: 'object' }, ...more });
const pack = (manifest: object, directory = 'own', controller = ''): Files => ({
  [`${directory}/suzumio.toolpack.json`]: JSON.stringify(manifest, null, 2),
  [`${directory}/runner.mjs`]: 'export const createRunnerToolpack = () => ({});\n',
  ...(controller === '' ? {} : { [`${directory}/controller.mjs`]: controller }),
});
const plan = { id: 'plan', tools: [tool('plan.create'), tool('plan.status')] };
const file = (tools: string, packs = '[{ path: own }]') =>
  minimal(`    tools: ${tools}\ntools: { toolpacks: ${packs} }\nbackend: { runner: { mode: mock } }\n`);
const asProject = (text: string, ...packs: Files[]): Files =>
  packs.reduce((all, one) => ({ ...all, ...one }), { 'project.yaml': text });

describe('a toolpack of a file', () => {
  test('gives its id and the names of its tools, which then may be allowed', () => {
    withFiles(asProject(file('[plan.*]'), pack(plan)), (directory) => {
      const project = loadProjectFile(join(directory, 'project.yaml'), { env: {} });
      expect(project.config.tools.toolpacks).toEqual(['core', { id: 'plan', path: join(directory, 'own') }]);
      expect(project.config.agents.editor?.tools).toEqual(['plan.*']);
      expect(unsupportedFields(project.config)).toEqual([]);
      expect(project.notes).toEqual([]);
    });
    expect(problemsOf(asProject(file('[plan.creat]'), pack(plan)))[0]).toMatchObject({
      code: 'tool-unknown',
      message: expect.stringContaining('did you mean plan.create?'),
    });
  });

  test('has tools that are not those of the published packs of the same names', () => {
    const { notes, config } = load(asProject(file('[plan.*, schedule.once]'), pack(plan)));
    expect(config.agents.editor?.tools).toEqual(['plan.*']);
    expect(notes.map(({ path }) => path)).toEqual(['agents.editor.tools[1]']);
    withFiles(asProject(file('[plan.*]'), pack(plan)), (directory) => {
      expect(importPublishedFile(join(directory, 'project.yaml'), {}).changes).toEqual([]);
    });
  });

  test('is told of at the lines of what is not run here', () => {
    const manifest = { ...plan, webui: [{ id: 'plan.board', title: 'Plan', kind: 'panel' }] };
    const hook = 'export const createControllerToolpack = () => ({});\nexport async function schedulerTick() {}\n';
    const { notes } = load(asProject(file('["*"]'), pack(manifest, 'own', hook)));
    expect(notes.map(({ file: at, line, message }) => `${at.replace(/^.*\/own/, 'own')}:${line} ${message}`)).toEqual([
      expect.stringMatching(/^own\/suzumio\.toolpack\.json:\d+ webui of the toolpack plan: the page shows no panels/),
      expect.stringMatching(/project\.yaml:8 schedulerTick of the toolpack plan: nothing but mail wakes an agent/),
    ]);
  });

  test.each<[string, Files, string, RegExp]>([
    ['that is not there', {}, 'file-missing 8:30', /there is no file .*own\/suzumio\.toolpack\.json$/],
    ['that is no JSON', { 'own/suzumio.toolpack.json': '{\n  id: x' }, 'toolpack-invalid 2:3', /is not JSON/],
    [
      'without a runner module',
      { 'own/suzumio.toolpack.json': JSON.stringify(plan) },
      'toolpack-invalid 1:1',
      /no module runner\.mjs/,
    ],
    [
      'whose module is elsewhere',
      pack({ ...plan, runner: '../runner.mjs' }),
      'toolpack-invalid 19:3',
      /runner: expected a path in the toolpack/,
    ],
    ['whose module is TypeScript', pack({ ...plan, runner: 'runner.ts' }), 'toolpack-invalid 19:3', /ends with \.mjs/],
    [
      'that names a tool twice',
      pack({ id: 'plan', tools: [tool('a'), tool('a')] }),
      'toolpack-invalid 3:3',
      /there are two tools a/,
    ],
    [
      'that names tools that a model cannot tell apart',
      pack({ id: 'plan', tools: [tool('a.b_c'), tool('a_b.c')] }),
      'toolpack-invalid 3:3',
      /a model cannot tell a_b\.c from a\.b_c/,
    ],
    [
      'that names a tool of Suzumio',
      pack({ id: 'plan', tools: [tool('messages.send')] }),
      'toolpack-invalid 3:3',
      /messages\.send is a tool that comes with Suzumio/,
    ],
    [
      'that calls itself core',
      pack({ id: 'core', tools: [] }),
      'toolpack-invalid 2:3',
      /id: core is the name of a toolpack that comes/,
    ],
    [
      'whose schema refers elsewhere',
      pack({ id: 'plan', tools: [tool('a', { inputSchema: { $ref: 'https://x' } })] }),
      'toolpack-invalid 7:7',
      /"\$ref" to begin with #/,
    ],
    [
      'whose schema is of no object',
      pack({ id: 'plan', tools: [tool('a'), tool('b', { inputSchema: { type: 'array' } })] }),
      'toolpack-invalid 15:9',
      /tools\[1\]\.inputSchema\.type: expected "object": the input of a tool has members$/,
    ],
    [
      'with a tool without a name',
      pack({ id: 'plan', tools: [tool('a'), { description: 'Does it.' }] }),
      'toolpack-invalid 11:5',
      /tools\[1\]\.name: is required$/,
    ],
    ['whose tools are no list', pack({ id: 'plan', tools: {} }), 'toolpack-invalid 3:3', /tools: expected a list$/],
    [
      'with too many tools',
      pack({ id: 'plan', tools: Array.from({ length: 65 }, (_, at) => tool(`a${String(at)}`)) }),
      'toolpack-invalid 3:3',
      /tools: expected at most 64 entries$/,
    ],
    ['whose id leads out', pack({ id: '../x', tools: [] }), 'toolpack-invalid 2:3', /id: expected 1 to 63 letters/],
  ])('%s is refused', (_what, files, place, message) => {
    const problems = problemsOf(asProject(file('["*"]'), files));
    expect(problems.map(brief)).toEqual([place]);
    expect(problems[0]?.message).toMatch(message);
  });

  test('that cannot be read leaves it open which tools there are', () => {
    const problems = problemsOf(asProject(file('[plan.create, "plan.*"]')));
    expect(problems.map(brief)).toEqual(['file-missing 8:30']);
  });

  test('may begin with a byte order mark, and is named from where its project file is', () => {
    const marked = { ...pack(plan), 'own/suzumio.toolpack.json': `\uFEFF${JSON.stringify(plan)}` };
    expect(load(asProject(file('[plan.create]'), marked)).config.agents.editor?.tools).toEqual(['plan.create']);
    withFiles(asProject(file('["*"]'), pack({ id: 'core' })), (directory) => {
      const problems = problemsIn(() => loadProjectFile(join(directory, 'project.yaml'), { env: {} }));
      expect(problems[0]?.file).toBe(join(directory, 'own/suzumio.toolpack.json'));
    });
  });

  test('is refused where its id is another one, where there are two of an id, and where it would be fetched', () => {
    expect(problemsOf(asProject(file('["*"]', '[{ path: own, id: other }]'), pack(plan)))[0]).toMatchObject({
      code: 'value-invalid',
      message: 'the toolpack own calls itself plan: write id: plan, or leave it out',
    });
    const two = asProject(
      file('["*"]', '[{ path: own }, { path: two }]'),
      pack(plan),
      pack({ id: 'Plan', tools: [] }, 'two'),
    );
    expect(problemsOf(two)[0]?.message).toContain('there are two toolpacks Plan');
    expect(problemsOf(file('["*"]', '[{ path: "https://x.example/p" }]'))[0]).toMatchObject({ code: 'path-refused' });
  });

  test('stays what it is when it is rendered, and is for its server to read when it is posted', () => {
    const { config } = load(asProject(file('[plan.create]'), pack(plan)));
    expect(loadProjectText(renderConfig(config), 'rendered.yaml').config).toEqual(config);
    const posted = `name: demo\ntask: Do it.\nagents: { editor: { tools: [anything.at_all] } }\ntools: { toolpacks: [{ id: x, path: /srv/x }] }\n`;
    expect(loadProjectText(posted, 'file').config.agents.editor?.tools).toEqual(['anything.at_all']);
    expect(problemsIn(() => loadProjectText(posted.replace('id: x, ', ''), 'file')).map(brief)).toEqual([
      'field-missing 4:22',
    ]);
    // What was taken is nothing that a file may say.
    const taken = posted.replace('path: /srv/x', 'path: /srv/x, taken: { sha256: a }');
    expect(problemsIn(() => loadProjectText(taken, 'file'))[0]).toMatchObject({ code: 'field-unknown' });
  });
});

describe('the policy', () => {
  test('names the directories, and none of them is one in which agents may write', () => {
    withFiles(asProject(file('["*"]'), pack(plan)), (directory) => {
      const { config } = loadProjectFile(join(directory, 'project.yaml'), { env: {} });
      const denied = (directories: string[], roots: { path: string; readonly: boolean }[] = []) =>
        projectDenials(
          { ...defaultPolicy, mounts: { roots }, toolpacks: { ...defaultPolicy.toolpacks, directories } },
          config,
          hostPaths([], { mounting: false }),
        ).map(({ rule }) => rule);
      expect(denied([])).toEqual(['toolpacks.directories']);
      expect(denied([directory])).toEqual([]);
      expect(denied([join(directory, 'other')])).toEqual(['toolpacks.directories']);
      const root = { path: directory, readonly: false };
      expect(denied([directory], [root])).toEqual(['writable']);
      expect(denied([directory], [{ ...root, path: join(directory, 'own/in') }])).toEqual(['writable']);
      expect(denied([directory], [{ ...root, readonly: true }])).toEqual([]);
    });
  });

  test('may take back what it has allowed', () => {
    const taken = { id: 'plan', directory: '/srv/packs/plan', sha256: 'a'.repeat(64), files: [], tools: [] };
    const policy = (...directories: string[]) => ({
      ...defaultPolicy,
      toolpacks: { ...defaultPolicy.toolpacks, directories },
    });
    expect(takenDenials(policy('/srv/packs'), taken)).toEqual([]);
    expect(takenDenials(policy('/srv/pack'), taken)).toMatchObject([{ rule: 'toolpacks.directories' }]);
  });
});
