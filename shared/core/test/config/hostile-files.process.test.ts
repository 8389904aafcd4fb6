import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { loadProjectText } from '@suzumio/core/profiles/load-project';
import { loadProjectFile } from '@suzumio/runtime/disk/load-project-file';
import { brief, load, minimal, problemsIn, problemsOf, withFiles } from './project-files.js';

const posted = (text: string) => problemsIn(() => loadProjectText(text, 'posted.yaml'));
const MIB = 1024 * 1024;

describe('a hostile file', () => {
  test('that multiplies itself with aliases is cut off', () => {
    const lines = ['l0: &l0 [x, x, x, x, x, x, x, x, x, x]'];
    for (let level = 1; level < 12; level++) {
      const alias = `*l${level - 1}`;
      lines.push(`l${level}: &l${level} [${Array.from({ length: 10 }, () => alias).join(', ')}]`);
    }
    expect(posted(lines.join('\n')).filter((problem) => problem.code === 'too-large')).toHaveLength(1);
  });

  test('that multiplies itself with imports is cut off', () => {
    const files: Record<string, string> = { 'project.yaml': minimal('turn: @import(0.yaml)') };
    for (let level = 0; level < 10; level++) {
      files[`${level}.yaml`] = Array.from({ length: 20 }, () => `- @import(${level + 1}.yaml)`).join('\n');
    }
    files['10.yaml'] = `[${'1, '.repeat(500)}]`;
    expect(problemsOf(files).map((problem) => problem.code)).toContain('too-large');
  });

  test('may use aliases in reason', () => {
    const { config } = load(minimal('    tools: &mail [messages.send]\n  b: { role: r, prompt: p, tools: *mail }\n'));
    expect(config.agents.b?.tools).toEqual(['messages.send']);
  });

  test.each([
    ['flow lists', '['.repeat(500_000)],
    ['flow maps', '{a: '.repeat(200_000)],
    ['block lists', '- '.repeat(500_000)],
    ['explicit keys', '? '.repeat(500_000)],
    ['block maps', Array.from({ length: 1000 }, (_, level) => `${' '.repeat(level)}a:`).join('\n')],
  ])('nested without end in %s is refused', (_what, text) => {
    expect(posted(text).map((problem) => problem.code)).toEqual(['too-deep']);
  });

  test.each([
    ['one long quoted text', `task: "${'\\n'.repeat(MIB / 2 - 10)}"`],
    ['many fields', Array.from({ length: 28_000 }, (_, index) => `f${index}: 1`).join('\n')],
    [
      'many counted agents',
      `agents:\n${Array.from({ length: 9000 }, (_, index) => `  a${index}: { count: 1000 }`).join('\n')}`,
    ],
    ['many aliases', `- &a 1\n${'- *a\n'.repeat(60_000)}`],
    ['many open quotes', '"\n'.repeat(MIB / 2)],
    ['many comments', '#\n'.repeat(MIB / 2)],
    ['many documents', '---\n'.repeat(MIB / 5)],
    ['many variables', `task: |\n${'  ${A}\n'.repeat(MIB / 8)}`],
    ['many open variables', `task: ${'${A:-'.repeat(MIB / 6)}`],
    ['many markers', `task: ${'@import('.repeat(MIB / 9)}`],
    ['many parentheses', `task: "@import(${'()'.repeat(MIB / 3)}"`],
    ['much that is like a key', `task: ${'sk-'.repeat(MIB / 3 - 10)}`],
  ])('with %s comes to an end', (_what, text) => {
    expect(posted(text).length).toBeGreaterThan(0);
  });

  test.each([
    ['prompts', `agents:\n  hand: { role: r, prompt: "${'p'.repeat(MIB - 200)}", count: 1000 }\n`],
    [
      'members of channels',
      `agents:\n  hand: { role: r, prompt: p, count: 1000 }\nchannels:\n${Array.from(
        { length: 1000 },
        (_, index) => `  - { name: "#c${index}", members: [hand] }`,
      ).join('\n')}`,
    ],
    [
      'channels for everybody',
      `agents:\n  hand: { role: r, prompt: p, count: 1000 }\nchannels:\n${Array.from(
        { length: 1000 },
        (_, index) => `  - "#c${index}"`,
      ).join('\n')}`,
    ],
  ])('that comes to a thousand times its %s is refused', (_what, text) => {
    expect(posted(`name: demo\ntask: t\n${text}`).map((problem) => problem.code)).toEqual(['too-large']);
  });

  test('with many names that are nearly right is refused at once', () => {
    const agents = Array.from({ length: 900 }, (_, index) => `  agent${index}: { role: r, prompt: p }`);
    const judged = (member: string) => {
      const channels = agents.map((_, index) => `  - { name: "#c${index}", members: [${member}${index}] }`);
      const file = `name: demo\ntask: t\nagents:\n${agents.join('\n')}\nchannels:\n${channels.join('\n')}`;
      const before = process.threadCpuUsage();
      const problems = posted(file);
      return { problems, cost: process.threadCpuUsage(before).user };
    };
    const right = judged('agent');
    const near = judged('agemt');
    expect(near.problems).toHaveLength(200);
    expect(near.problems[0]?.message).toBe('unknown agent "agemt0": did you mean agent0?');
    expect(near.cost).toBeLessThan(15 * right.cost);
  });

  test.each(['constructor', 'toString', 'hasOwnProperty', 'valueOf', 'prototype'])(
    'with the key %s changes nothing',
    (key) => {
      expect(posted(minimal(`${key}: 1\n`)).map(brief)).toEqual(['field-unknown 7:1']);
      const { config } = load(minimal('').replace('editor:', `${key.toLowerCase()}:`));
      expect(Object.keys(config.agents)).toEqual([key.toLowerCase()]);
    },
  );

  test('that is too large is not parsed', () => {
    expect(posted('x'.repeat(MIB + 1)).map(brief)).toEqual(['file-too-large 1:1']);
    expect(problemsOf('#'.repeat(MIB + 1)).map(brief)).toEqual(['file-too-large 1:1']);
  });

  test.each([
    ['nothing', '', 'document-count 1:1'],
    ['comments', '# nothing\n\n', 'document-count 1:1'],
    ['a text', 'hello', 'value-invalid 1:1'],
    ['a list', '- a', 'value-invalid 1:1'],
    ['null', '~', 'value-invalid 1:1'],
    ['bytes that are no text', Uint8Array.of(0xff, 0xfe, 0x00), 'file-not-utf8 1:1'],
    ['NUL', '\0', 'value-invalid 1:1'],
  ])('of %s is refused', (_what, content, expected) => {
    expect(problemsOf({ 'project.yaml': content }).map(brief)).toEqual([expected]);
  });

  test('that is a FIFO or a directory does not hold the loader up', () => {
    withFiles({ 'dir/x': '' }, (directory) => {
      execFileSync('mkfifo', [join(directory, 'fifo')]);
      for (const name of ['fifo', 'dir']) {
        const problems = problemsIn(() => loadProjectFile(join(directory, name), { env: {} }));
        expect(problems.map(brief)).toEqual(['file-unreadable 1:1']);
      }
    });
  });
});
