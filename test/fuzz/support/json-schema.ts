import fc from '../../support/fast-check.js';

/** As much of JSON Schema as our own schemas use. */
export interface JsonSchema {
  readonly [keyword: string]: unknown;
}

/** What stands in a field of this name, where a schema alone could not make anything that exists. */
export type Known = Readonly<Record<string, fc.Arbitrary<unknown>>>;

/** Values that a schema accepts, more or less: what is refused after all is a case, too. */
export function valuesOf(
  schema: JsonSchema,
  known: Known = {},
  named: Readonly<Record<string, JsonSchema>> = {},
): fc.Arbitrary<unknown> {
  const inner = (one: unknown): fc.Arbitrary<unknown> => valuesOf((one ?? {}) as JsonSchema, known, named);
  if (typeof schema['$ref'] === 'string') {
    const name = schema['$ref'].split('/').at(-1) ?? '';
    const { [name]: target, ...others } = named;
    // The one schema within itself is that of any JSON.
    return target ? valuesOf(target, known, others) : fc.jsonValue({ maxDepth: 1 });
  }
  if ('const' in schema) return fc.constant(schema['const']);
  if (Array.isArray(schema['enum'])) return fc.constantFrom(...(schema['enum'] as unknown[]));
  const alternatives = (schema['anyOf'] ?? schema['oneOf']) as JsonSchema[] | undefined;
  if (alternatives) return fc.oneof(...alternatives.map(inner));
  if (Array.isArray(schema['type']))
    return fc.oneof(...schema['type'].map((type: string) => inner({ ...schema, type })));
  switch (schema['type']) {
    case 'string':
      return textOf(schema);
    case 'integer':
    case 'number':
      return numberOf(schema);
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    case 'array': {
      const [min = 0, max = min + 3] = [schema['minItems'], schema['maxItems']] as (number | undefined)[];
      return fc.array(inner(schema['items']), { minLength: min, maxLength: Math.min(max, min + 3) });
    }
    case 'object':
      return objectOf(schema, known, inner);
    default:
      return fc.jsonValue({ maxDepth: 2 });
  }
}

function objectOf(
  schema: JsonSchema,
  known: Known,
  inner: (one: unknown) => fc.Arbitrary<unknown>,
): fc.Arbitrary<unknown> {
  const properties = Object.entries((schema['properties'] ?? {}) as Record<string, JsonSchema>);
  const required = (schema['required'] ?? []) as string[];
  const fields = properties.map(([name, property]) => {
    const existing = Object.hasOwn(known, name) ? known[name] : undefined;
    const made = inner(property);
    return [name, existing ? fc.oneof({ arbitrary: existing, weight: 4 }, made) : made] as const;
  });
  const own = fc.record(Object.fromEntries(fields), { requiredKeys: required });
  const more = schema['additionalProperties'];
  if (properties.length > 0 || typeof more !== 'object') return own;
  return fc.dictionary(fc.string({ maxLength: 8 }), inner(more), { maxKeys: 3 });
}

function textOf({ pattern, minLength, maxLength, format }: JsonSchema): fc.Arbitrary<string> {
  if (format === 'date-time') return fc.constant('2026-11-22T05:00:00.000Z');
  const min = typeof minLength === 'number' ? minLength : 0;
  const bounds = { minLength: min, maxLength: Math.min(typeof maxLength === 'number' ? maxLength : 40, min + 40) };
  // The generator knows no classes of Unicode, and needs none.
  if (typeof pattern !== 'string' || pattern.includes('\\p{')) return fc.string(bounds);
  return fc.stringMatching(new RegExp(pattern), { maxLength: 100 });
}

function numberOf({ type, minimum, maximum, exclusiveMinimum }: JsonSchema): fc.Arbitrary<number> {
  const above = typeof exclusiveMinimum === 'number' ? exclusiveMinimum + 1 : 0;
  const min = Math.ceil(typeof minimum === 'number' ? minimum : above);
  const max = Math.floor(Math.min(typeof maximum === 'number' ? maximum : 2 ** 31, 2 ** 40));
  const whole = fc.oneof(fc.integer({ min, max }), fc.integer({ min, max: Math.min(max, min + 5) }));
  return type === 'integer' ? whole : fc.oneof(whole, fc.double({ min, max, noNaN: true }));
}
