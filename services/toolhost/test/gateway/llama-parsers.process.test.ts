import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { sandboxTools } from '@suzumio/protocol/sandbox-tools/catalogue';
import { narrowTools } from '../../src/gateway/narrow-schema.js';
import { hostTools } from '../../src/tools/catalogue.js';
import { grammarOf } from './llama-grammar.js';

// llama.cpp makes a grammar of the tools' schemas, and refuses each question if its parser does not take that. Here its parsers of
// three years read them, from packages that are built for Linux on x64 alone.

type Schema = Record<string, unknown>;

const packages = ['llama-3.1', 'llama-3.10', 'llama-3.21'];
const { resolve } = createRequire(import.meta.url);
/** They are optional, and not installed where they would not run. */
const isInstalled = existsSync(join(import.meta.dirname, '../../../../node_modules/llama-3.21'));

/** Says of each grammar whether it is taken. Each version has a process: their libraries have the same names. */
const program = `
const addon = require(process.argv[1]);
const taken = JSON.parse(require('node:fs').readFileSync(0, 'utf8')).map((grammar) => {
  try {
    return new addon.AddonGrammar(grammar, { addonExports: addon, rootRuleName: 'root' }) instanceof addon.AddonGrammar;
  } catch (error) {
    return error.message;
  }
});
process.stdout.write('\\n' + JSON.stringify(taken));`;

function parse(name: string, grammars: readonly string[]): unknown[] {
  const addon = join(dirname(resolve(name)), '../bins/linux-x64/llama-addon.node');
  const { stdout } = spawnSync(process.execPath, ['--eval', program, addon], { input: JSON.stringify(grammars) });
  // Some versions say the same on the lines before.
  return JSON.parse(stdout.toString().split('\n').at(-1) ?? '') as unknown[];
}

const tools = [...Object.values(hostTools), ...Object.values(sandboxTools)].map(({ definition }) => ({
  name: definition.name,

  shown: narrowTools([{ type: 'function', function: { name: 'tool', parameters: definition.inputSchema } }])[0]
    ?.function.parameters as Schema,
}));

const recorded = JSON.parse(readFileSync(join(import.meta.dirname, 'llama-grammars.json'), 'utf8')) as Record<
  string,
  { schema: Schema; grammar: string }
>;

test.each(Object.entries(recorded))('the port makes what the converter made: %s', (_, { schema, grammar }) => {
  expect(grammarOf(schema)).toBe(grammar);
});

(isInstalled ? describe : describe.skip).each(packages)('%s', (name) => {
  test('takes every tool as it is shown', () => {
    const taken = parse(
      name,
      tools.map(({ shown }) => grammarOf(shown)),
    );
    expect(taken.map((one, at) => (one === true ? true : [tools[at]?.name, one]))).toEqual(tools.map(() => true));
  });

  test('refuses what is not shown', () => {
    const patterns = [String.raw`^[\p{L}\p{N}]+$`, String.raw`^[\d]+$`, String.raw`^\w+$`];
    const lengths = name === 'llama-3.21' ? [{ maxLength: 2000 }] : [];
    const fields = [...patterns.map((pattern) => ({ pattern })), ...lengths];
    const grammars = fields.map((field) =>
      grammarOf({ type: 'object', properties: { field: { type: 'string', ...field } } }),
    );
    expect(parse(name, grammars)).toEqual(grammars.map(() => 'Failed to parse grammar'));
  });
});
