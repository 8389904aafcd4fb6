import { maxNesting } from '@suzumio/protocol/nesting';
import type { ModelRequest } from './wire.js';

type Schema = Readonly<Record<string, unknown>>;

/** How long a text about one value gets. */
const maxTextChars = 4_000;

/** What a schema demands of a value besides its type, in words: servers compile schemas into grammars that know few of these. */
const demands: readonly (readonly [keyword: string, words: (value: unknown) => string])[] = [
  ['minLength', (value) => (value === 1 ? 'Not empty.' : `At least ${String(value)} characters.`)],
  ['maxLength', (value) => `At most ${String(value)} characters.`],
  ['pattern', (value) => `Matches the pattern ${String(value)}`],
  ['format', (value) => `Format: ${String(value)}.`],
  ['minimum', (value) => `At least ${String(value)}.`],
  ['maximum', (value) => `At most ${String(value)}.`],
  ['exclusiveMinimum', (value) => `More than ${String(value)}.`],
  ['exclusiveMaximum', (value) => `Less than ${String(value)}.`],
  ['multipleOf', (value) => `A multiple of ${String(value)}.`],
  ['minItems', (value) => `At least ${String(value)} ${value === 1 ? 'item' : 'items'}.`],
  ['maxItems', (value) => `At most ${String(value)} ${value === 1 ? 'item' : 'items'}.`],
  ['uniqueItems', (value) => (value === true ? 'No item twice.' : '')],
  ['minProperties', (value) => `At least ${String(value)} fields.`],
  ['maxProperties', (value) => `At most ${String(value)} fields.`],
  ['default', (value) => `Default: ${JSON.stringify(value)}.`],
];

/** JSON Schema's own bounds of a whole number say nothing to a model. */
const isTrivial = (value: unknown) => typeof value === 'number' && Math.abs(value) >= Number.MAX_SAFE_INTEGER;

/**
 * Narrows what a provider sees of tools to what all of them take: types, texts, enumerations and required fields. Lengths, patterns,
 * formats and bounds go into the texts. Calls are checked against the whole schema.
 */
export function narrowTools(tools: ModelRequest['tools']): ModelRequest['tools'] {
  return tools.map((tool) => {
    const { parameters } = tool.function;
    if (!parameters) return tool;
    return { ...tool, function: { ...tool.function, parameters: narrowParameters(parameters) } };
  });
}

function narrowParameters(parameters: unknown): Record<string, unknown> {
  const narrowed = isSchema(parameters)
    ? narrow(parameters, { root: parameters, depth: 0, within: [], budget: { left: maxSchemas } })
    : {};
  // Servers want an object, with fields though there be none.
  return { properties: {}, ...narrowed, type: 'object' };
}

interface Position {
  /** The whole schema, in which references point. */
  readonly root: Schema;
  readonly depth: number;
  /** References that are being followed: one that leads back to itself ends there. */
  readonly within: readonly string[];
  /** How many schemas may still be narrowed: references multiply. */
  readonly budget: { left: number };
}

/** How many schemas within one another and beside one another a tool shows. */
const maxSchemas = 5_000;

function narrow(schema: Schema, position: Position): Record<string, unknown> {
  const next = { ...position, depth: position.depth + 1 };
  position.budget.left -= 1;
  if (next.depth > maxNesting || position.budget.left < 0) return {};
  const { $ref, allOf } = schema;
  if (typeof $ref === 'string') {
    const beside = without(schema, '$ref');
    if (position.within.includes($ref)) return narrow(beside, next);
    return narrow({ ...referred(position.root, $ref), ...beside }, { ...next, within: [...position.within, $ref] });
  }
  if (Array.isArray(allOf)) {
    const beside = without(schema, 'allOf');
    return narrow(merged([...allOf.filter(isSchema), beside]), next);
  }
  const alternatives = alternativesOf(schema);
  const single = alternatives.length === 1 ? alternatives[0] : undefined;
  if (single)
    return narrow({ ...schema, anyOf: undefined, oneOf: undefined, ...single, ...texts(schema, single) }, next);
  const narrowed: Record<string, unknown> = {};
  if (alternatives.length > 1) narrowed['anyOf'] = alternatives.map((one) => narrow(one, next));
  else if (typeof schema['type'] === 'string') narrowed['type'] = schema['type'];
  const values = 'const' in schema ? [schema['const']] : schema['enum'];
  if (Array.isArray(values) && values.length > 0) {
    narrowed['enum'] = values.filter((value) => value !== null);
    narrowed['type'] ??= typeof values[0] === 'object' ? undefined : typeof values[0];
  }
  const { properties, required, items, prefixItems, additionalProperties } = schema;
  if (isSchema(properties)) {
    const fields = Object.entries(properties).map(([name, value]) => [
      name,
      isSchema(value) ? narrow(value, next) : {},
    ]);
    narrowed['properties'] = Object.fromEntries(fields) as unknown;
  }
  if (Array.isArray(required) && required.length > 0) narrowed['required'] = required;
  if (isSchema(additionalProperties)) narrowed['additionalProperties'] = narrow(additionalProperties, next);
  if (isSchema(items)) narrowed['items'] = narrow(items, next);
  else if (Array.isArray(prefixItems))
    narrowed['items'] = { anyOf: prefixItems.filter(isSchema).map((one) => narrow(one, next)) };
  else if (schema['type'] === 'array') narrowed['items'] = {};
  const text = textOf(schema);
  if (text !== '') narrowed['description'] = text;
  return narrowed;
}

/** Of several types, or several schemas, those that a value may have. A field that may be null may be left out instead. */
function alternativesOf(schema: Schema): Schema[] {
  const { type, anyOf, oneOf } = schema;
  const listed = [anyOf, oneOf].flatMap((list): unknown[] => (Array.isArray(list) ? list : []));
  if (listed.length > 0) return listed.filter(isSchema).filter((one) => one['type'] !== 'null');
  if (!Array.isArray(type)) return [];
  const plain = without(schema, 'description');
  return type.filter((one) => one !== 'null').map((one: unknown) => ({ ...plain, type: one }));
}

/** A text of both, where a schema stands for its only alternative. */
function texts(schema: Schema, single: Schema): { description?: string } {
  const both = [schema['description'], single['description']].filter((text) => typeof text === 'string');
  return both.length === 0 ? {} : { description: [...new Set(both)].join(' ') };
}

function textOf(schema: Schema): string {
  const { description } = schema;
  const sentences = demands.flatMap(([keyword, words]) => {
    const value = schema[keyword];
    return value === undefined || isTrivial(value) ? [] : [words(value)];
  });
  const text = [typeof description === 'string' ? description.trim() : '', ...sentences].filter(Boolean).join(' ');
  return text.length <= maxTextChars ? text : `${text.slice(0, maxTextChars - 1)}…`;
}

/** What a reference within the schema points at; nothing where it leads elsewhere. */
function referred(root: Schema, reference: string): Schema {
  if (!reference.startsWith('#/')) return {};
  let found: unknown = root;
  for (const part of reference.slice(2).split('/')) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~');
    found = isSchema(found) && Object.hasOwn(found, name) ? found[name] : undefined;
  }
  return isSchema(found) ? found : {};
}

function merged(schemas: readonly Schema[]): Schema {
  const properties = Object.assign({}, ...schemas.map((schema) => schema['properties'] ?? {})) as Schema;
  const required = schemas.flatMap((schema): unknown[] =>
    Array.isArray(schema['required']) ? schema['required'] : [],
  );
  return {
    ...(Object.assign({}, ...schemas) as Schema),
    ...(Object.keys(properties).length === 0 ? {} : { properties }),
    ...(required.length === 0 ? {} : { required: [...new Set(required)] }),
  };
}

function without(schema: Schema, keyword: string): Schema {
  return Object.fromEntries(Object.entries(schema).filter(([name]) => name !== keyword));
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
