import type { ToolDefinition } from '@suzumio/protocol/runner';

/** An input of a tool that no tool is meant for. */
export interface HostileInput {
  readonly of: string;
  readonly input: unknown;
}

type Schema = Readonly<Record<string, unknown>>;

const nested = (depth: number): unknown => JSON.parse('['.repeat(depth) + ']'.repeat(depth)) as unknown;

/** What a model may write for any field, by what is wrong with it. */
const values: Readonly<Record<string, unknown>> = {
  'a NUL': 'a\0b',
  'nothing but NUL': '\0',
  'half a character': 'x\ud800y',
  'the other half': '\udc00',
  'an empty text': '',
  'a huge text': 'x'.repeat(200_000),
  'many lines': '\n'.repeat(50_000),
  'control characters': '\u001b[2J\u0007\b\r\u2028',
  'a way out': '../../../../etc/passwd',
  'an option': '--pre=cat',
  'a name of Object': '__proto__',
  'a deep list': nested(60),
  'an empty list': [],
  'a list of nothing': [null],
  'an object': { toString: 'x', constructor: {} },
  nothing: null,
  'a negative number': -1,
  'a fraction': 0.5,
  'a huge number': 1e308,
  'a number beyond integers': 2 ** 60,
  'a boolean': true,
};

/** Hostile inputs of a tool, made from its schema: each field in turn, beside others that are as they should be. */
export function hostileInputs({ inputSchema }: ToolDefinition): HostileInput[] {
  const properties = inputSchema['properties'] as Readonly<Record<string, Schema>>;
  const required = (inputSchema['required'] ?? []) as readonly string[];
  const usual = Object.fromEntries(required.map((name) => [name, sample(properties[name] ?? {})]));
  const ofFields = Object.keys(properties).flatMap((name) =>
    Object.entries(values).map(([of, value]) => ({ of: `${name}: ${of}`, input: { ...usual, [name]: value } })),
  );
  const whole = Object.entries(values).map(([of, input]) => ({ of: `all of it: ${of}`, input }));
  const long = 'x'.repeat(200_000);
  return [
    ...ofFields,
    ...whole,
    { of: 'nothing that is asked for', input: {} },
    { of: 'a field that is not asked for', input: { ...usual, more: 1 } },
    { of: 'a field with a huge name', input: { ...usual, [long]: 1 } },
    { of: 'a field with a NUL in its name', input: { ...usual, 'a\0b': 1 } },
    { of: 'many fields', input: Object.fromEntries(Array.from({ length: 5_000 }, (_, n) => [`field-${n}`, n])) },
    { of: 'a prototype', input: JSON.parse('{"__proto__":{"path":"x"},"constructor":{"prototype":{}}}') as unknown },
  ];
}

/** Something that a schema takes, and that does little. */
function sample({ type, enum: choices, const: only, default: usual }: Schema): unknown {
  if (usual !== undefined) return usual;
  if (only !== undefined) return only;
  if (Array.isArray(choices)) return choices[0];
  return { string: 'x', boolean: false, integer: 1, number: 1, array: [], object: {} }[String(type)];
}
