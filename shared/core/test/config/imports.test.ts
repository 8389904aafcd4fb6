import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { loadProjectFile } from '@suzumio/runtime/disk/load-project-file';
import { brief, load, minimal, problemsIn, problemsOf, withFiles } from './project-files.js';

describe('@import', () => {
  test('inserts data and text, bare or quoted, from where the importing file is', () => {
    const { config, files } = load({
      'project.yaml': `name: demo
task: @import(task.md)
agents: {editor: @import(team/editor.yaml), "writer": "@import(team/writer.json)", 'checker': '@import( team/c (1).yml )'}
`,
      'task.md': 'Do it.\n\n${HOME} and @import(nothing)\n',
      'team/editor.yaml': 'role: editor\nprompt: @import(texts/editor.txt)  # its own text\n',
      'team/texts/editor.txt': 'Edit.',
      'team/writer.json': '{\n\t"role": "writer",\n\t"prompt": "@import(texts/editor.txt)"\n}',
      'team/c (1).yml': 'role: checker\nprompt:\n  @import(texts/editor.txt)\n',
    });
    expect(config.task).toBe('Do it.\n\n${HOME} and @import(nothing)\n');
    expect(Object.values(config.agents).map(({ role, prompt }) => [role, prompt])).toEqual([
      ['editor', 'Edit.'],
      ['writer', 'Edit.'],
      ['checker', 'Edit.'],
    ]);
    expect(files).toHaveLength(6);
  });

  test('is plain text inside a longer value, in a block, and where it is escaped', () => {
    const { config } = load(`name: demo
task: |-
  @import(missing.md)
agents:
  a: { role: r, prompt: "see @import(missing.md)" }
  b: { role: r, prompt: @@import(missing.md) }
  c: { role: r, prompt: "@import(a) or (b) @import(c)" }
  d: { role: r, prompt: "@@@import(missing.md)" }
`);
    expect(config.task).toBe('@import(missing.md)');
    expect(Object.values(config.agents).map((agent) => agent.prompt)).toEqual([
      'see @import(missing.md)',
      '@import(missing.md)',
      '@import(a) or (b) @import(c)',
      '@@import(missing.md)',
    ]);
  });

  test.each([
    ['a missing file', 'no.md', 'file-missing', /there is no file no\.md/],
    ['a directory', 'sub', 'file-unreadable', /not a regular file/],
    ['text that is no UTF-8', 'latin.txt', 'file-not-utf8', /not UTF-8/],
    ['a file that is too large', 'large.txt', 'file-too-large', /1048577 bytes/],
    ['an address', 'https://example.org/a.md', 'import-remote', /only files/],
    ['no path', '', 'import-invalid', /needs the path/],
  ])('refuses %s at its place', (_what, path, code, message) => {
    const problems = problemsOf({
      'project.yaml': `name: demo\ntask: @import(${path})\nagents:\n  a: { role: r, prompt: p }\n`,
      'sub/x': '',
      'latin.txt': Uint8Array.of(0x66, 0xfc, 0x72),
      'large.txt': 'x'.repeat(1024 * 1024 + 1),
    });
    expect(problems).toMatchObject([{ file: 'project.yaml', line: 2, column: 7, code }]);
    expect(problems[0]?.message).toMatch(message);
  });

  test('tells the place in the imported file', () => {
    const problems = problemsOf({
      'project.yaml': minimal('  writer: @import(team/writer.yaml)\n'),
      'team/writer.yaml': 'role: writer\nprompt: Write.\ntools:\n  - messages.send\n  - messages.sned\n',
    });
    expect(problems).toEqual([
      {
        code: 'tool-unknown',
        file: 'team/writer.yaml',
        line: 5,
        column: 5,
        message: 'unknown tool "messages.sned" for agent writer: did you mean messages.send?',
      },
    ]);
  });

  test('tells syntax errors of imported files', () => {
    const problems = problemsOf({
      'project.yaml': minimal('backend: @import(backend.json)\nturn: @import(turn.yaml)\n'),
      'backend.json': '{\n  "kind": "docker"\n  "image": "x"\n}',
      'turn.yaml': 'timeout: 1m\n  maxSteps: 3\n',
    });
    expect(problems.map((problem) => `${problem.file} ${brief(problem)}`)).toEqual([
      'backend.json yaml-syntax 3:3',
      'turn.yaml yaml-syntax 1:10',
    ]);
  });

  test('refuses a circle and prints it', () => {
    const problems = problemsOf({
      'project.yaml': minimal('turn: @import(a.yaml)\n'),
      'a.yaml': 'timeout: 1m\nmaxSteps: @import(sub/b.yaml)\n',
      'sub/b.yaml': '@import(../a.yaml)\n',
    });
    expect(problems).toMatchObject([{ code: 'import-cycle', file: 'sub/b.yaml', line: 1, column: 1 }]);
    expect(problems[0]?.message).toContain('project.yaml -> a.yaml -> sub/b.yaml -> ../a.yaml');
  });

  test('goes 32 files deep and no deeper', () => {
    const chain = (length: number) => ({
      'project.yaml': minimal('  b: { role: r, prompt: @import(1.yaml) }\n'),
      ...Object.fromEntries(
        Array.from({ length }, (_, index) => [
          `${index + 1}.yaml`,
          index + 1 === length ? 'Write.' : `@import(${index + 2}.yaml)`,
        ]),
      ),
    });
    expect(load(chain(32)).config.agents.b?.prompt).toBe('Write.');
    expect(problemsOf(chain(33))).toMatchObject([{ code: 'import-too-deep', file: '32.yaml', line: 1, column: 1 }]);
  });

  test('stays inside the config root, symbolic links followed', () => {
    const files = {
      'root/project.yaml': minimal('').replace('Do it.', '@import(link.md)').replace('Edit.', '@import(../out.md)'),
      'root/in.md': 'inside',
      'out.md': 'outside',
    };
    withFiles(files, (directory) => {
      symlinkSync(join(directory, 'out.md'), join(directory, 'root/link.md'));
      const file = join(directory, 'root/project.yaml');
      const problems = problemsIn(() => loadProjectFile(file, { env: {}, configRoot: join(directory, 'root') }));
      expect(problems.map(brief)).toEqual(['import-outside-root 2:7', 'import-outside-root 6:13']);
      expect(loadProjectFile(file, { env: {}, configRoot: directory }).config.task).toBe('outside');
      const nowhere = problemsIn(() => loadProjectFile(file, { env: {}, configRoot: join(directory, 'nowhere') }));
      expect(nowhere.map(brief)).toEqual(['file-missing 1:1']);
    });
  });

  test('stays in the directory of the project file where no other is named', () => {
    const files = {
      'root/project.yaml': minimal('').replace('Do it.', '@import(../out.md)').replace('Edit.', '@import(sub/in.md)'),
      'root/sub/in.md': 'inside',
      'out.md': 'outside',
    };
    withFiles(files, (directory) => {
      const file = join(directory, 'root/project.yaml');
      const problems = problemsIn(() => loadProjectFile(file, { env: {} }));
      expect(problems.map(brief)).toEqual(['import-outside-root 2:7']);
      expect(problems[0]?.message).toContain('--config-root names another');
      expect(loadProjectFile(file, { env: {}, configRoot: '/' }).config.task).toBe('outside');
    });
  });

  test('counts an import as often as it is inserted', () => {
    const agents = Array.from({ length: 9 }, (_, index) => `  b${index}: { role: r, prompt: @import(large.txt) }`);
    const problems = problemsOf({ 'project.yaml': minimal(agents.join('\n')), 'large.txt': 'x'.repeat(1024 * 1024) });
    expect(problems.map(brief)).toEqual(['too-large 15:26']);
  });
});
