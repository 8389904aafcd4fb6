import { describe, expect, test } from '@jest/globals';
import { sandboxTools } from '@suzumio/protocol/sandbox-tools/catalogue';
import { narrowTools } from '../../src/gateway/narrow-schema.js';
import { hostTools } from '../../src/tools/catalogue.js';

type Schema = Record<string, unknown>;
const shown = (parameters: Schema, name = 'tool') =>
  narrowTools([{ type: 'function', function: { name, parameters } }])[0]?.function.parameters as Schema;

/** Keywords that every server takes. */
const plain = ['type', 'description', 'enum', 'properties', 'required', 'items', 'anyOf', 'additionalProperties'];

/** The keywords of a schema and of all within it. */
function keywordsOf(schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  if (Array.isArray(schema)) return schema.flatMap(keywordsOf);
  return Object.entries(schema).flatMap(([key, value]) =>
    key === 'properties'
      ? [key, ...Object.values(value as Schema).flatMap(keywordsOf)]
      : ['enum', 'required', 'description', 'type'].includes(key)
        ? [key]
        : [key, ...keywordsOf(value)],
  );
}

const definitions = [...Object.values(hostTools), ...Object.values(sandboxTools)].map(({ definition }) => definition);

describe('what a provider sees of the tools', () => {
  test.each(definitions.map(({ name, inputSchema }) => [name, inputSchema] as const))(
    '%s: plain keywords, one type each, and all fields',
    (name, inputSchema) => {
      const narrowed = shown(inputSchema, name.replaceAll('.', '_'));
      expect(keywordsOf(narrowed).filter((keyword) => !plain.includes(keyword))).toEqual([]);
      expect(JSON.stringify(narrowed)).not.toMatch(/"type":\[/);
      expect([narrowed['type'], narrowed['required']]).toEqual(['object', inputSchema['required']]);
      expect(Object.keys(narrowed['properties'] as Schema)).toEqual(Object.keys(inputSchema['properties'] ?? {}));
    },
  );

  test('lengths, patterns, formats, bounds and defaults are words', () => {
    const value = {
      type: 'string',
      description: 'A name.',
      minLength: 1,
      maxLength: 2000,
      pattern: '^\\p{L}+$',
      format: 'uri',
    };
    const count = {
      type: 'integer',
      minimum: 1,
      maximum: 9007199254740991,
      exclusiveMaximum: 9,
      default: 3,
      multipleOf: 3,
    };
    const list = { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: 20, uniqueItems: true };
    expect(
      shown({ type: 'object', properties: { value, count, list }, required: ['value'], additionalProperties: false }),
    ).toEqual({
      type: 'object',
      properties: {
        value: {
          type: 'string',
          description: 'A name. Not empty. At most 2000 characters. Matches the pattern ^\\p{L}+$ Format: uri.',
        },
        count: { type: 'integer', description: 'At least 1. Less than 9. A multiple of 3. Default: 3.' },
        list: {
          type: 'array',
          items: { type: 'string' },
          description: 'At least 1 item. At most 20 items. No item twice.',
        },
      },
      required: ['value'],
    });
  });

  test.each<[string, Schema, Schema]>([
    ['a field that may be null', { type: ['string', 'null'], description: 'x' }, { type: 'string', description: 'x' }],
    [
      'one of several with null',
      { anyOf: [{ type: 'null' }, { type: 'integer', maximum: 5 }], description: 'x' },
      { type: 'integer', description: 'x At most 5.' },
    ],
    ['several types', { type: ['string', 'integer'] }, { anyOf: [{ type: 'string' }, { type: 'integer' }] }],
    [
      'one of several',
      { oneOf: [{ const: 'a' }, { const: 2 }] },
      {
        anyOf: [
          { type: 'string', enum: ['a'] },
          { type: 'number', enum: [2] },
        ],
      },
    ],
    [
      'all of several',
      {
        allOf: [{ type: 'object', properties: { a: { type: 'string' } }, required: ['a'] }, { properties: { b: {} } }],
      },
      { type: 'object', properties: { a: { type: 'string' }, b: {} }, required: ['a'] },
    ],
    ['an array without items', { type: 'array' }, { type: 'array', items: {} }],
    [
      'a tuple',
      { type: 'array', prefixItems: [{ type: 'string' }, { type: 'integer' }] },
      { type: 'array', items: { anyOf: [{ type: 'string' }, { type: 'integer' }] } },
    ],
    [
      'a map',
      { type: 'object', additionalProperties: { type: 'string', maxLength: 3 } },
      { type: 'object', additionalProperties: { type: 'string', description: 'At most 3 characters.' } },
    ],
    [
      'a reference',
      { $ref: '#/$defs/a~1b', description: 'x' },
      { type: 'string', description: 'x At most 3 characters.' },
    ],
    ['a reference that leads nowhere', { $ref: '#/$defs/none' }, {}],
  ])('%s', (_, field, expected) => {
    const $defs = { 'a/b': { type: 'string', maxLength: 3 } };
    expect(shown({ type: 'object', properties: { field }, $defs })['properties']).toEqual({ field: expected });
  });

  test('a schema that refers to itself, or multiplies, is bounded', () => {
    const tree = {
      type: 'object',
      properties: { left: { $ref: '#' }, right: { $ref: '#/properties/left' }, name: { type: 'string' } },
    };
    expect(JSON.stringify(shown(tree)).length).toBeLessThan(10_000);
    const $defs = Object.fromEntries(
      Array.from({ length: 30 }, (_, at) => [
        `d${at}`,
        { type: 'object', properties: { a: { $ref: `#/$defs/d${at + 1}` }, b: { $ref: `#/$defs/d${at + 1}` } } },
      ]),
    );
    expect(JSON.stringify(shown({ $ref: '#/$defs/d0', $defs })).length).toBeLessThan(500_000);
    expect(shown({})).toEqual({ type: 'object', properties: {} });
  });
});
