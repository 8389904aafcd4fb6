import { describe, expect, test } from '@jest/globals';
import { sandboxTools } from '@suzumio/protocol/sandbox-tools/catalogue';
import { isSandboxTool, type SandboxToolName } from '@suzumio/protocol/tool-names';

const parse = (name: SandboxToolName, input: unknown): unknown => sandboxTools[name].input.parse(input);

test.each(Object.entries(sandboxTools))('%s is defined under its name, with what a model may give it', (name, tool) => {
  expect(isSandboxTool(name)).toBe(true);
  expect(tool.definition.name).toBe(name);
  expect(tool.definition.description.length).toBeGreaterThan(20);
  // What providers take as a function's parameters.
  expect(tool.definition.inputSchema).toMatchObject({ type: 'object', additionalProperties: false });
  expect(tool.definition.inputSchema).not.toHaveProperty('$schema');
});

test('no other name is one', () => {
  expect(isSandboxTool('messages.send')).toBe(false);
  expect(isSandboxTool('toString')).toBe(false);
});

describe('the published inputs are taken, with the published defaults and bounds', () => {
  test.each<[SandboxToolName, object, object]>([
    ['file.read', { path: 'a' }, { path: 'a', offset: 1, limit: 200, maxBytes: 50_000 }],
    ['file.read', { path: 'a', limit: 5000, maxBytes: 1e9 }, { limit: 2000, maxBytes: 100_000 }],
    ['file.read', { path: 'a', offset: 3.7, limit: 0.5 }, { offset: 3, limit: 1 }],
    ['file.write', { path: 'a', content: '' }, { path: 'a', content: '', createDirs: false }],
    [
      'file.patch',
      {
        operations: [
          { op: 'add', path: 'a', content: 'x', createDirs: true },
          { op: 'update', path: 'a', search: 'x', replace: 'y', replaceAll: true },
          { op: 'update', path: 'a', search: 'y' },
          { op: 'delete', path: 'a' },
        ],
      },
      { operations: [{ createDirs: true }, { replaceAll: true }, { replaceAll: false }, { op: 'delete' }] },
    ],
    ['shell.exec', { command: 'true' }, { timeoutMs: 60_000, maxOutputBytes: 40_000, background: false }],
    [
      'shell.exec',
      { command: 'true', cwd: '/workspace', timeoutMs: 1e9, maxOutputBytes: 1e9 },
      { timeoutMs: 300_000, maxOutputBytes: 200_000 },
    ],
  ])('%s %j', (name, input, expected) => {
    expect(parse(name, input)).toMatchObject(expected);
  });
});

test.each<[SandboxToolName, unknown]>([
  ['file.read', { path: 'a', offset: 0 }],
  ['file.read', { path: 'a', offset: '1' }],
  ['file.read', { path: 'a', limit: Number.NaN }],
  ['file.write', { path: 'a' }],
  ['shell.exec', { command: 'true', timeoutMs: -1 }],
  ['shell.exec', { command: 'true', shell: 'zsh' }],
  ['shell.read', {}],
])('%s refuses %j', (name, input) => {
  expect(() => parse(name, input)).toThrow();
});
