import { isDeepStrictEqual } from 'node:util';
import type { JsonSchema, OpenApiDocument } from './types.js';

/** Who sends what a schema describes: the client, or the server. */
export type Direction = 'request' | 'answer';

export interface Comparison {
  before: OpenApiDocument;
  after: OpenApiDocument;
  direction: Direction;
  /** Pairs of schemas under comparison: schemas may contain themselves. */
  open?: ReadonlySet<string>;
}

const lowerBounds = ['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties'];
const upperBounds = ['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties'];

/**
 * What breaks between two schemas in one place. Old requests must still be accepted; new answers must still contain
 * what they had. New names in an answer break nothing: clients are told to expect them.
 */
export function breakingSchemaChanges(
  comparison: Comparison,
  place: string,
  before: JsonSchema,
  after: JsonSchema,
): string[] {
  const pair = `${before.$ref ?? ''} ${after.$ref ?? ''}`;
  if (pair !== ' ') {
    if (comparison.open?.has(pair)) return [];
    const open = new Set([...(comparison.open ?? []), pair]);
    const was = resolve(comparison.before, before);
    return breakingSchemaChanges({ ...comparison, open }, place, was, resolve(comparison.after, after));
  }
  const [was, is] = [alternatives(before), alternatives(after)];
  const [onlyWas, onlyIs] = [was[0], is[0]];
  if (was.length === 1 && is.length === 1 && onlyWas && onlyIs) return plainChanges(comparison, place, onlyWas, onlyIs);
  const fits = (old: JsonSchema, now: JsonSchema) => breakingSchemaChanges(comparison, place, old, now).length === 0;
  if (comparison.direction === 'request') {
    return was
      .filter((old) => !is.some((now) => fits(old, now)))
      .map((old) => `${place} no longer takes ${shown(old)}`);
  }
  return is.filter((now) => !was.some((old) => fits(old, now))).map((now) => `${place} may be ${shown(now)} now`);
}

/** Compares two schemas that are not unions. */
function plainChanges(comparison: Comparison, place: string, was: JsonSchema, is: JsonSchema): string[] {
  const asked = comparison.direction === 'request';
  // An empty schema accepts everything, and promises nothing.
  if (isDeepStrictEqual(was, is) || (asked ? saysNothing(is) : saysNothing(was))) return [];
  if (!typeFits(asked ? was.type : is.type, asked ? is.type : was.type)) {
    return [`${place} was ${shown(was)} and is ${shown(is)}`];
  }
  return [
    ...(asked ? narrowed(place, was, is) : []),
    ...fieldChanges(comparison, place, was, is),
    ...(was.items && is.items ? breakingSchemaChanges(comparison, `${place}[]`, was.items, is.items) : []),
    ...(typeof was.additionalProperties === 'object' && typeof is.additionalProperties === 'object'
      ? breakingSchemaChanges(comparison, `${place}.*`, was.additionalProperties, is.additionalProperties)
      : []),
  ];
}

function fieldChanges(comparison: Comparison, place: string, was: JsonSchema, is: JsonSchema): string[] {
  const asked = comparison.direction === 'request';
  const kept = Object.entries(was.properties ?? {}).flatMap(([name, old]) => {
    const field = `${place}.${name}`;
    const now = is.properties?.[name];
    if (!now) return [`${field} is gone`];
    const optional = !asked && was.required?.includes(name) && !is.required?.includes(name);
    return [
      ...(optional === true ? [`${field} may be missing now`] : []),
      ...breakingSchemaChanges(comparison, field, old, now),
    ];
  });
  const needed = asked ? (is.required ?? []).filter((name) => !was.required?.includes(name)) : [];
  return [...kept, ...needed.map((name) => `${place}.${name} is required now`)];
}

/** The constraints of a request that became narrower. */
function narrowed(place: string, was: JsonSchema, is: JsonSchema): string[] {
  const names = valuesOf(is);
  const lost = names ? (valuesOf(was) ?? ['any other value']).filter((value) => !names.includes(value)) : [];
  const bound = (keyword: string) => ({ old: was[keyword], now: is[keyword] });
  const tighter = [
    ...lowerBounds.filter(
      (keyword) => Number(bound(keyword).now ?? -Infinity) > Number(bound(keyword).old ?? -Infinity),
    ),
    ...upperBounds.filter((keyword) => Number(bound(keyword).now ?? Infinity) < Number(bound(keyword).old ?? Infinity)),
    ...['pattern', 'format'].filter(
      (keyword) => bound(keyword).now !== undefined && bound(keyword).now !== bound(keyword).old,
    ),
  ];
  const closed = is.additionalProperties === false && was.additionalProperties !== false;
  return [
    ...(closed ? [`${place} no longer takes other fields`] : []),
    ...lost.map((value) => `${place} no longer takes ${typeof value === 'string' ? value : JSON.stringify(value)}`),
    ...tighter.map((keyword) => `${place} has another ${keyword}: ${JSON.stringify(is[keyword])}`),
  ];
}

function valuesOf(schema: JsonSchema): unknown[] | undefined {
  return 'const' in schema ? [schema.const] : schema.enum;
}

/** Whether every value of type `inner` is of type `outer`. */
function typeFits(inner: JsonSchema['type'], outer: JsonSchema['type']): boolean {
  return inner === outer || outer === undefined || (inner === 'integer' && outer === 'number');
}

function alternatives(schema: JsonSchema): JsonSchema[] {
  if (schema.anyOf) return schema.anyOf;
  if (Array.isArray(schema.type)) return schema.type.map((type) => ({ ...schema, type }));
  return [schema];
}

function saysNothing(schema: JsonSchema): boolean {
  return Object.keys(schema).every((keyword) => ['default', 'description', 'title'].includes(keyword));
}

function shown(schema: JsonSchema): string {
  return schema.$ref?.split('/').at(-1) ?? JSON.stringify(valuesOf(schema) ?? schema.type ?? schema);
}

function resolve(document: OpenApiDocument, schema: JsonSchema): JsonSchema {
  if (schema.$ref === undefined) return schema;
  const name = schema.$ref.split('/').at(-1) ?? '';
  const target = document.components.schemas[name];
  if (!target) throw new Error(`the description has no schema ${name}`);
  return target;
}
