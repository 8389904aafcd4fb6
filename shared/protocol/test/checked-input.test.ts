import { describe, expect, test } from '@jest/globals';
import * as z from 'zod';
import { checkedInput, meantInput } from '../src/checked-input.js';
import { sandboxTools } from '../src/sandbox-tools/catalogue.js';

/** The field `it` as a schema means it; the whole input where that is refused. */
function meant(schema: object, it: unknown, required: string[] = []): unknown {
  const tool = { type: 'object', properties: { it: schema }, required, additionalProperties: false };
  const { input, unknown } = meantInput(tool, { it });
  expect(unknown).toEqual([]);
  return 'it' in (input as object) ? (input as { it: unknown }).it : 'absent';
}

const whole = { type: 'integer' };
const number = { type: 'number' };
const flag = { type: 'boolean' };
const text = { type: 'string' };
const list = { type: 'array', items: whole };
const level = { type: 'string', enum: ['P0', 'P1'] };
const point = { type: 'object', properties: { x: number, label: text }, required: ['x'], additionalProperties: false };

describe('what is meant', () => {
  test.each([
    ['a numeral', whole, '50', 50],
    ['a negative one', whole, '-3', -3],
    ['a decimal', number, '2.5', 2.5],
    ['a whole decimal', whole, '5.0', 5],
    ['the largest exact whole number', whole, '9007199254740991', 9_007_199_254_740_991],
    ['true', flag, 'true', true],
    ['false', flag, 'false', false],
    ['a constant', { type: 'boolean', const: true }, 'true', true],
    ['null of an optional field', whole, null, 'absent'],
    ['null of an optional text', text, null, 'absent'],
    ['a list as text', list, '[1, "2"]', [1, 2]],
    ['numerals in a list', list, ['1', 2], [1, 2]],
    ['an object as text', point, ' {"x": "1"} ', { x: 1 }],
    ['fields of an object', point, { x: '1', label: null }, { x: 1 }],
    ['objects in a list', { type: 'array', items: point }, ['{"x": 1}', { x: '2' }], [{ x: 1 }, { x: 2 }]],
    ['an enumeration', level, 'p1', 'P1'],
    ['an enumeration in a list', { type: 'array', items: level }, ['p0', 'P1'], ['P0', 'P1']],
    ['a nullable number', { type: ['integer', 'null'] }, '7', 7],
    ['one of several', { anyOf: [whole, flag] }, 'true', true],
    ['one of several objects', { oneOf: [list, point] }, '{"x": "3"}', { x: 3 }],
    ['an enumeration or a number', { anyOf: [level, whole] }, 'p1', 'P1'],
    [
      'an object told by its constant',
      { anyOf: [tagged('a', whole), tagged('b', flag)] },
      { op: 'b', of: 'true' },
      { op: 'b', of: true },
    ],
    ['a map', { type: 'object', additionalProperties: whole }, { a: '1' }, { a: 1 }],
    ['a tuple', { type: 'array', prefixItems: [whole, flag] }, ['1', 'false'], [1, false]],
  ])('%s', (_name, schema, written, expected) => {
    expect(meant(schema, written)).toEqual(expected);
  });

  test.each([
    ['a text', text, '50'],
    ['a text that is a list', text, '[1]'],
    ['a text that is null', text, 'null'],
    ['a number where a text is expected', text, 5],
    ['a text or a number', { anyOf: [whole, text] }, '50'],
    ['a text or a number, by types', { type: ['number', 'string'] }, '50'],
    ['a text or a list', { oneOf: [text, list] }, '[1]'],
    ['anything', {}, '50'],
    ['null where it is taken', { type: ['integer', 'null'] }, null],
    ['null where it is taken, as one of several', { anyOf: [whole, { type: 'null' }] }, null],
    ['a numeral that would be rounded', whole, '9007199254740993'],
    ['a decimal that would be rounded', number, '0.1234567890123456789'],
    ['an exponent', whole, '1e3'],
    ['spaces', whole, ' 50 '],
    ['hexadecimal', whole, '0x10'],
    ['leading noughts', whole, '007'],
    ['no numeral', number, 'Infinity'],
    ['an empty text', whole, ''],
    ['null as a text', whole, 'null'],
    ['a decimal for a whole number', whole, '2.5'],
    ['one for true', flag, 1],
    ['yes', flag, 'yes'],
    ['a single value for a list', list, 5],
    ['a numeral for a list', list, '5'],
    ['an object for a list', { type: 'array', items: point }, { x: 1 }],
    ['text that is no JSON', list, '[1'],
    ['text that nests too deep', { type: 'array' }, `${'['.repeat(70)}${']'.repeat(70)}`],
    ['text of too many members', { type: 'array' }, `[${'0,'.repeat(20_001)}0]`],
    ['another word', level, 'P7'],
    ['two that differ by case', { enum: ['ab', 'AB'] }, 'Ab'],
    ['one of several that all would take it', { anyOf: [{ enum: ['Ab'] }, { enum: ['aB'] }] }, 'ab'],
    ['a reference to itself', { $ref: '#/properties/it' }, '5'],
    ['a reference to nothing', { $ref: '#/$defs/none' }, '5'],
  ])('%s is kept', (_name, schema, written) => {
    expect(meant(schema, written)).toEqual(written);
  });

  test('null of a required field is kept', () => {
    expect(meant(whole, null, ['it'])).toBeNull();
  });

  test('references may recur', () => {
    const tree = { type: 'object', properties: { size: whole, of: { type: 'array', items: { $ref: '#' } } } };
    expect(meantInput(tree, { size: '1', of: [{ size: '2', of: '[{"size": "3"}]' }] }).input).toEqual({
      size: 1,
      of: [{ size: 2, of: [{ size: 3 }] }],
    });
  });

  test.each(['input', 'arguments', 'parameters'])('one key around it: %s', (key) => {
    const tool = { type: 'object', properties: { it: whole }, additionalProperties: false };
    expect(meantInput(tool, { [key]: { it: '1' } })).toEqual({ input: { it: 1 }, unknown: [] });
    expect(meantInput(tool, { [key]: '{"it": 1}' }).input).toEqual({ it: 1 });
    const twice = { [key]: { [key]: { it: 1 } } };
    expect(meantInput(tool, twice).unknown).toEqual([
      { path: [], message: `unknown field "${key}"; the fields are: it` },
    ]);
    const own = { type: 'object', properties: { [key]: point } };
    expect(meantInput(own, { [key]: { x: '1' } }).input).toEqual({ [key]: { x: 1 } });
    expect(meantInput({ type: 'object' }, { [key]: { it: 1 } }).input).toEqual({ [key]: { it: 1 } });
    expect(meantInput({ ...tool, additionalProperties: {} }, { [key]: {} }).input).toEqual({ [key]: {} });
  });

  test('what is written stays as it is', () => {
    const written = { it: ['1'], input: null };
    meantInput({ type: 'object', properties: { it: list } }, written);
    expect(written).toEqual({ it: ['1'], input: null });
  });

  test('a hostile schema and input cost little', () => {
    const of = { anyOf: [{ $ref: '#/$defs/a' }, { $ref: '#/$defs/b' }] };
    const schema = { type: 'object', $defs: { a: tagged('a', of), b: tagged('b', of), c: of }, properties: { it: of } };
    let it: unknown = 'x';
    for (let depth = 0; depth < 60; depth += 1) it = { of: it };
    expect(meantInput(schema, { it }).input).toEqual({ it });
    expect(meantInput(schema, JSON.parse('{"__proto__": {"it": 1}}')).input).toEqual(
      JSON.parse('{"__proto__": {"it": 1}}'),
    );
  });
});

function tagged(op: string, of: object): object {
  return { type: 'object', properties: { op: { const: op }, of } };
}

describe('a checked input', () => {
  test('has what a tool takes', () => {
    const { definition, input } = sandboxTools['shell.exec'];
    expect(
      checkedInput(definition, input, { command: '5', cwd: null, timeoutMs: '1000', background: 'FALSE' }),
    ).toEqual({ fault: 'background: Invalid input: expected boolean, received string' });
    const parsed = checkedInput(definition, input, { parameters: { command: '5', cwd: null, background: 'true' } });
    expect(parsed).toMatchObject({ input: { command: '5', background: true, timeoutMs: 60_000 } });
  });

  test('says which fields there are, where one is unknown', () => {
    const { definition, input } = sandboxTools['file.patch'];
    const operations = [{ op: 'ADD', path: 'a', content: 'b', mode: 1 }];
    expect(checkedInput(definition, input, { operations, force: null })).toEqual({
      fault:
        'unknown field "force"; the fields are: patch, path, search, replace, replaceAll, operations; ' +
        'operations.0: unknown field "mode"; the fields are: op, path, content, search, replace, replaceAll, createDirs',
    });
    const none = { name: 'a', description: '', inputSchema: z.toJSONSchema(z.strictObject({})) };
    expect(checkedInput(none, z.strictObject({}), { a: 1 })).toEqual({
      fault: 'unknown field "a"; the fields are: none',
    });
  });

  test('says little of a hostile one', () => {
    const { definition, input } = sandboxTools['file.list'];
    const written = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`${'x'.repeat(9000)}${index}`, 1]));
    const { fault } = checkedInput(definition, input, written) as { fault: string };
    expect(fault.length).toBeLessThan(500);
    expect(fault).toMatch(
      /^unknown fields "x{40}", .+ and 995 more; the fields are: path, recursive, maxEntries, gitignore$/,
    );
  });
});
