import { describe, expect, test } from '@jest/globals';
import { breakingChanges } from '../../src/openapi/breaking-changes.js';
import type { JsonSchema, OpenApiDocument, OpenApiOperation } from '../../src/openapi/types.js';

const before: OpenApiDocument = {
  openapi: '3.1.1',
  info: { title: 'Example', version: '1', description: '' },
  servers: [],
  security: [],
  tags: [],
  paths: {
    '/things/{id}': {
      post: {
        operationId: 'makeThing',
        tags: [],
        summary: '',
        description: '',
        security: [],
        parameters: [
          { name: 'id', in: 'path', required: true, schema: { type: 'string' } },
          { name: 'limit', in: 'query', required: false, schema: { type: 'integer', maximum: 10 } },
        ],
        requestBody: {
          required: false,
          content: { 'application/json': { schema: { $ref: '#/components/schemas/New' } } },
        },
        responses: {
          200: {
            description: '',
            headers: { ETag: { description: '', schema: { type: 'string' } } },
            content: {
              'application/json': { schema: { $ref: '#/components/schemas/Thing' } },
              'text/plain': { schema: {} },
            },
          },
          404: { description: '' },
        },
      },
    },
  },
  components: {
    securitySchemes: {},
    schemas: {
      New: {
        type: 'object',
        properties: {
          name: { type: 'string', maxLength: 20 },
          size: { anyOf: [{ type: 'integer' }, { type: 'null' }] },
          kind: { type: 'string', enum: ['a', 'b'] },
          tags: { type: 'array', items: { type: 'string' } },
          notes: { type: 'object', additionalProperties: { type: 'string' } },
          anything: {},
        },
        required: ['name'],
        additionalProperties: false,
      },
      Thing: {
        type: 'object',
        properties: {
          name: { type: 'string' },
          size: { type: 'number' },
          kind: { type: 'string', enum: ['a'] },
          note: { type: ['string', 'null'] },
          parts: { type: 'array', items: { $ref: '#/components/schemas/Thing' } },
          extra: {},
        },
        required: ['name', 'size'],
      },
    },
  },
};

function changed(change: (document: Mutable) => void): string[] {
  const after = structuredClone(before);
  const operation = after.paths['/things/{id}']?.['post'];
  const { New: asked, Thing: thing } = after.components.schemas;
  if (!operation || !asked?.properties || !thing?.properties) throw new Error('the example is incomplete');
  change({
    after,
    operation,
    asked: asked.properties,
    askedSchema: asked,
    thing: thing.properties,
    thingSchema: thing,
  });
  return breakingChanges(before, after);
}

interface Mutable {
  after: OpenApiDocument;
  operation: OpenApiOperation;
  asked: Record<string, JsonSchema>;
  askedSchema: JsonSchema;
  thing: Record<string, JsonSchema>;
  thingSchema: JsonSchema;
}

const place = 'POST /things/{id}';

describe('what breaks', () => {
  test.each<[string, (document: Mutable) => void]>([
    [`${place} is gone`, ({ after }) => (after.paths = {})],
    [`${place}: its operationId was makeThing`, ({ operation }) => (operation.operationId = 'create')],
    [`${place} needs a token now`, ({ operation }) => delete operation.security],
    [`${place} query parameter limit is gone`, ({ operation }) => operation.parameters.pop()],
    [
      `${place} header parameter Key is new and required`,
      ({ operation }) => operation.parameters.push({ name: 'Key', in: 'header', required: true, schema: {} }),
    ],
    [
      `${place} query parameter limit is required now`,
      ({ operation }) => Object.assign(operation.parameters[1] ?? {}, { required: true }),
    ],
    [
      `${place} query parameter limit has another maximum: 5`,
      ({ operation }) => Object.assign(operation.parameters[1]?.schema ?? {}, { maximum: 5 }),
    ],
    [
      `${place} body is required now`,
      ({ operation }) => Object.assign(operation.requestBody ?? {}, { required: true }),
    ],
    [`${place} body application/json is gone`, ({ operation }) => delete operation.requestBody],
    [`${place} body.tags is gone`, ({ asked }) => delete asked['tags']],
    [`${place} body.size is required now`, ({ askedSchema }) => askedSchema.required?.push('size')],
    [
      `${place} body.colour is required now`,
      ({ asked, askedSchema }) => {
        asked['colour'] = { type: 'string' };
        askedSchema.required?.push('colour');
      },
    ],
    [`${place} body.name was "string" and is "number"`, ({ asked }) => (asked['name'] = { type: 'number' })],
    [
      `${place} body.name has another pattern: "^x"`,
      ({ asked }) => Object.assign(asked['name'] ?? {}, { pattern: '^x' }),
    ],
    [
      `${place} body.name has another maxLength: 10`,
      ({ asked }) => Object.assign(asked['name'] ?? {}, { maxLength: 10 }),
    ],
    [
      `${place} body.name has another minLength: 2`,
      ({ asked }) => Object.assign(asked['name'] ?? {}, { minLength: 2 }),
    ],
    [`${place} body.size no longer takes "null"`, ({ asked }) => (asked['size'] = { type: 'integer' })],
    [`${place} body.kind no longer takes b`, ({ asked }) => (asked['kind'] = { type: 'string', enum: ['a'] })],
    [
      `${place} body.tags[] was "string" and is "integer"`,
      ({ asked }) => (asked['tags'] = { type: 'array', items: { type: 'integer' } }),
    ],
    [
      `${place} body.notes.* was "string" and is "integer"`,
      ({ asked }) => (asked['notes'] = { type: 'object', additionalProperties: { type: 'integer' } }),
    ],
    [
      `${place} body.notes no longer takes other fields`,
      ({ asked }) => (asked['notes'] = { type: 'object', additionalProperties: false }),
    ],
    [`${place} body.anything was {} and is "string"`, ({ asked }) => (asked['anything'] = { type: 'string' })],
    [`${place} no longer answers 200`, ({ operation }) => delete operation.responses['200']],
    [`${place} 200 header ETag is gone`, ({ operation }) => delete operation.responses['200']?.headers],
    [`${place} 200 text/plain is gone`, ({ operation }) => delete operation.responses['200']?.content?.['text/plain']],
    [`${place} 200.size is gone`, ({ thing }) => delete thing['size']],
    [`${place} 200.size may be missing now`, ({ thingSchema }) => thingSchema.required?.pop()],
    [`${place} 200.name may be "null" now`, ({ thing }) => (thing['name'] = { type: ['string', 'null'] })],
    [`${place} 200.size was "number" and is "string"`, ({ thing }) => (thing['size'] = { type: 'string' })],
    [`${place} 200.name was "string" and is {}`, ({ thing }) => (thing['name'] = {})],
    [
      `${place} 200.parts[] was "object" and is "string"`,
      ({ thing }) => (thing['parts'] = { type: 'array', items: { type: 'string' } }),
    ],
  ])('%s', (sentence, change) => {
    expect(changed(change)).toEqual([sentence]);
  });
});

describe('what does not break', () => {
  test.each<[string, (document: Mutable) => void]>([
    ['nothing at all', () => undefined],
    ['a new operation', ({ after, operation }) => (after.paths['/others'] = { post: operation })],
    ['a new optional field', ({ asked }) => (asked['colour'] = { type: 'string' })],
    [
      'a new optional parameter',
      ({ operation }) => operation.parameters.push({ name: 'q', in: 'query', required: false, schema: {} }),
    ],
    ['a field that is no longer required', ({ askedSchema }) => (askedSchema.required = [])],
    [
      'a wider type',
      ({ asked }) => (asked['size'] = { anyOf: [{ type: 'number' }, { type: 'null' }, { type: 'string' }] }),
    ],
    ['a wider bound', ({ asked }) => (asked['name'] = { type: 'string', maxLength: 30 })],
    ['a new name to ask with', ({ asked }) => (asked['kind'] = { type: 'string', enum: ['a', 'b', 'c'] })],
    ['a new field of an answer', ({ thing }) => (thing['colour'] = { type: 'string' })],
    ['a new name in an answer', ({ thing }) => (thing['kind'] = { type: 'string', enum: ['a', 'b'] })],
    ['a narrower answer', ({ thing }) => (thing['size'] = { type: 'integer' })],
    ['an answer that is never null any more', ({ thing }) => (thing['note'] = { type: 'string' })],
    ['a promise where there was none', ({ thing }) => (thing['extra'] = { type: 'string' })],
    [
      'another name of a schema',
      ({ after, operation, askedSchema }) => {
        after.components.schemas['Renamed'] = askedSchema;
        operation.requestBody = {
          required: false,
          content: { 'application/json': { schema: { $ref: '#/components/schemas/Renamed' } } },
        };
      },
    ],
  ])('%s', (_what, change) => {
    expect(changed(change)).toEqual([]);
  });
});
