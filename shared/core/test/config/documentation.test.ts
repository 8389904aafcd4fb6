import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { loadProjectFile } from '@suzumio/runtime/disk/load-project-file';
import { candidatesFor } from '@suzumio/core/budgets/presets';
import { refuseUnsupported, unsupportedFields } from '@suzumio/core/config/unsupported';
import { withFiles } from './project-files.js';

const page = readFileSync(join(import.meta.dirname, '../../../../docs/project-file.md'), 'utf8');
const blocks = [...page.matchAll(/^```(?:yaml|text)\n([^]*?)^```$/gm)].map((match) => match[1] ?? '');
/** Blocks that begin with a comment that names them are files of the example; the others are parts of a file. */
const fileName = (block: string) => /^# (\S+\.\w+)\n/.exec(block)?.[1];
const files: Record<string, string> = {};
for (const block of blocks) {
  const name = fileName(block);
  if (name !== undefined) files[name] = block;
}
const parts = blocks.filter((block) => fileName(block) === undefined);

describe('docs/project-file.md', () => {
  test('has an example that loads and is supported', () => {
    expect(Object.keys(files)).toEqual(['newsroom.yaml', 'script.yaml', 'prompts/editor.md']);
    withFiles(files, (directory) => {
      const project = loadProjectFile(join(directory, 'newsroom.yaml'), { env: {} });
      refuseUnsupported(project);
      expect(Object.keys(project.config.agents)).toEqual(['editor', 'reporter-1', 'reporter-2']);
      expect(project.config.agents.editor?.prompt).toMatch('Give each reporter a gauge.');
    });
  });

  test.each(parts)('has a part that loads: %j', (part) => {
    const around = {
      'project.yaml': 'extends: [@import(base.yaml), @import(part.yaml)]\n',
      'base.yaml': 'name: demo\ntask: t\nagents: { editor: { role: editor, prompt: p } }\n',
      'part.yaml': part,
    };
    withFiles(around, (directory) => {
      const { config, warnings } = loadProjectFile(join(directory, 'project.yaml'), { env: {} });
      expect(warnings).toEqual([]);
      expect(unsupportedFields(config).filter(({ missing }) => missing !== true)).toEqual([]);
    });
  });

  test('has parts', () => {
    expect(parts.length).toBeGreaterThanOrEqual(4);
  });

  test('names every field that is not supported', () => {
    const section = page.slice(page.indexOf('## Not supported yet'));
    for (const field of [
      'network',
      'passProviderKeys',
      'mounts',
      'warm',
      'controllerUrl',
      'toolpacks',
      'enabled',
      'backend',
    ]) {
      expect(section).toMatch(new RegExp(`\\b${field}\\b`));
    }
  });
});

test('docs/mail.md has notices that can be asked for, and a script that agents can play', () => {
  const text = readFileSync(join(import.meta.dirname, '../../../../docs/mail.md'), 'utf8');
  const [notices = '', script = ''] = [...text.matchAll(/^```yaml\n([^]*?)^```$/gm)].map(([, example = '']) => example);
  const files = {
    'project.yaml': `extends: @import(notices.yaml)
name: demo
task: t
backend: { runner: { mode: mock, script: @import(script.yaml) } }
agents:
  manager: { role: manager, prompt: p }
  researcher: { role: researcher, prompt: p, tools: ['messages.*'] }
`,
    'notices.yaml': notices,
    'script.yaml': script,
  };
  withFiles(files, (directory) => {
    const { config } = loadProjectFile(join(directory, 'project.yaml'), { env: {} });
    const [step] = config.backend.runner.script?.[0]?.steps ?? [];
    expect(config.agents['manager']?.notices).toEqual(['errored']);
    expect(step).toMatchObject({ tool: 'messages.reply', input: { task: 'done' } });
  });
});

describe('docs/models.md', () => {
  test('has an example that loads and is supported', () => {
    const [, example = ''] =
      /^```yaml\n([^]*?)^```$/m.exec(readFileSync(join(import.meta.dirname, '../../../../docs/models.md'), 'utf8')) ??
      [];
    const around = 'extends: @import(models.yaml)\nname: demo\ntask: t\nbudget: { usd: 1 }\n';
    withFiles({ 'project.yaml': around, 'models.yaml': example }, (directory) => {
      const project = loadProjectFile(join(directory, 'project.yaml'), { env: {} });
      refuseUnsupported(project);
      expect(candidatesFor(project.config, 'editor').map(({ preset }) => preset)).toEqual(['quick']);
      expect(candidatesFor({ ...project.config, agents: {} }, 'nobody').map(({ preset }) => preset)).toEqual([
        'quick',
        'local',
      ]);
    });
  });
});
