import type { ReactNode } from 'react';
import { code, h, joined, prose, table } from '../element.js';
import { type JsonSchema, schemaName } from './description.js';

/** How deep the fields of objects are shown in the table of another one. */
const maxDepth = 4;

/** The fields of an object as a table; undefined where it has none. */
export function fieldsTable(schema: JsonSchema, root: string): ReactNode | undefined {
  const rows = fieldRows(schema, root, '', 1);
  return rows.length === 0 ? undefined : table(['Field', 'Type', 'Meaning'], rows);
}

function fieldRows(schema: JsonSchema, root: string, prefix: string, depth: number): ReactNode[][] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const path = `${prefix}${name}`;
    const optional = schema.required?.includes(name) ? [] : [' ', h('span', { className: 'quiet' }, 'optional')];
    const row = [h('span', null, code(path), ...optional), typeOf(field, root), h('span', null, ...meaningOf(field))];
    const inner = field.properties ? field : (field.items ?? {});
    const mark = field.properties ? '.' : '[].';
    return [row, ...(depth < maxDepth ? fieldRows(inner, root, `${path}${mark}`, depth + 1) : [])];
  });
}

function meaningOf({ description = '', default: preset }: JsonSchema): ReactNode[] {
  const words = prose(description);
  return preset === undefined ? words : [...words, ' Default: ', code(JSON.stringify(preset)), '.'];
}

/** A type in a few words; named schemas are links. */
export function typeOf(schema: JsonSchema, root: string): ReactNode {
  return h('span', null, ...wordsOf(schema, root));
}

function wordsOf(schema: JsonSchema, root: string): ReactNode[] {
  const { $ref, anyOf, oneOf, type, items, additionalProperties } = schema;
  if ($ref !== undefined) {
    const name = schemaName($ref);
    return [h('a', { href: `${root}docs/api/schemas#schema-${name}` }, code(name))];
  }
  const choices = anyOf ?? oneOf;
  if (choices)
    return joined(
      choices.map((choice) => h('span', null, ...wordsOf(choice, root))),
      ' or ',
    );
  if (schema.const !== undefined) return [code(JSON.stringify(schema.const))];
  if (schema.enum)
    return joined(
      schema.enum.map((value) => code(JSON.stringify(value))),
      ' or ',
    );
  if (type === 'array') return items ? ['array of ', ...wordsOf(items, root)] : ['array'];
  if (type === 'object' && typeof additionalProperties === 'object' && !schema.properties) {
    return ['object of ', ...wordsOf(additionalProperties, root)];
  }
  if (type === undefined) return ['any JSON'];
  return [`${[type].flat().join(' or ')}${boundsOf(schema)}`];
}

function boundsOf({ format, minimum, maximum, maxLength, maxItems }: JsonSchema): string {
  const bounds = [
    ...(format === undefined ? [] : [format]),
    ...(minimum === undefined ? [] : [`at least ${minimum}`]),
    ...(maximum === undefined || maximum === Number.MAX_SAFE_INTEGER ? [] : [`at most ${maximum}`]),
    ...(maxLength === undefined ? [] : [`at most ${maxLength} characters`]),
    ...(maxItems === undefined ? [] : [`at most ${maxItems}`]),
  ];
  return bounds.length === 0 ? '' : `, ${bounds.join(', ')}`;
}
