import type * as z from 'zod';
import { countMembers } from './count-members.js';
import { beginningOf } from './cut-text.js';
import { maxCallMembers } from './door.js';
import { type InputFault, inputFaults } from './input-faults.js';
import { isShallow } from './nesting.js';
import type { ToolDefinition } from './runner.js';

// Models write a call's input almost as its schema says: numbers as text, null for what they leave out. A call is sent,
// hashed and recorded as written; only what a tool is given is normalised.

type Schema = Readonly<Record<string, unknown>>;

/**
 * Normalises a call's input by its tool's JSON Schema ({@link meantInput}), and validates it.
 *
 * @param hidden fields that the schema does not show, which a runner adds beside what a model has written
 */
export function checkedInput<Input extends z.ZodType>(
  { inputSchema }: Pick<ToolDefinition, 'inputSchema'>,
  type: Input,
  written: unknown,
  hidden: readonly string[] = [],
): { input: z.output<Input> } | { fault: string } {
  const fields = isObject(written) && hidden.length > 0 ? Object.entries(written) : [];
  const added = fields.filter(([key]) => hidden.includes(key));
  const own = added.length > 0 ? Object.fromEntries(fields.filter(([key]) => !hidden.includes(key))) : written;
  const { input, unknown } = meantInput(inputSchema, own);
  const parsed = type.safeParse(isObject(input) ? { ...input, ...Object.fromEntries(added) } : input);
  return parsed.success ? { input: parsed.data } : { fault: inputFaults(parsed.error.issues, unknown) };
}

/**
 * Normalises a call's input by its tool's JSON Schema, wherever that leaves one meaning only:
 *
 * - null of an optional field is absent;
 * - a text is the number, boolean, list or object that it spells, or the word of an enumeration that it equals but for case,
 *   unless the schema takes any text;
 * - the one key `input`, `arguments` or `parameters` around all of it is left out, unless it is a field of the tool.
 *
 * Everything else stays as written.
 *
 * @returns the input, and the fields in it that the schema excludes
 */
export function meantInput(schema: Schema, written: unknown): { input: unknown; unknown: readonly InputFault[] } {
  const reader = new InputReader(schema);
  const input = reader.read(schema, unwrapped(schema, written), []);
  return { input, unknown: reader.unknown };
}

class InputReader {
  readonly unknown: InputFault[] = [];

  constructor(private readonly root: Schema) {}

  read(schema: unknown, written: unknown, path: readonly string[]): unknown {
    const branches = this.#branches(schema);
    const takers = branches.filter((branch) => takes(branch, written));
    if (takers.length > 0) {
      const [branch, ...others] = takers.length > 1 ? takers.filter((taker) => describes(taker, written)) : takers;
      return branch && others.length === 0 ? this.#readMembers(branch, written, path) : written;
    }
    if (typeof written !== 'string') return written;
    const spelt = [spelled(written), ...branches.map((branch) => word(branch, written))];
    const meant = new Set(spelt.filter((value) => branches.some((branch) => takes(branch, value))));
    return meant.size === 1 ? this.read(schema, [...meant][0], path) : written;
  }

  #readMembers(schema: Schema, value: unknown, path: readonly string[]): unknown {
    if (Array.isArray(value)) {
      const { prefixItems, items } = schema;
      const first: unknown[] = [prefixItems, items].find(Array.isArray) ?? [];
      const rest = Array.isArray(items) ? true : items;
      return value.map((item, index) => this.read(first[index] ?? rest, item, [...path, String(index)]));
    }
    if (!isObject(value)) return value;
    const { required, additionalProperties: additional, patternProperties } = schema;
    const properties = isObject(schema['properties']) ? schema['properties'] : {};
    const isOpen = additional !== false || patternProperties !== undefined;
    const unknown = isOpen ? [] : Object.keys(value).filter((key) => !Object.hasOwn(properties, key));
    if (unknown.length > 0) this.unknown.push({ path, message: unknownFields(unknown, Object.keys(properties)) });
    const fields = Object.entries(value).flatMap(([key, item]): [string, unknown][] => {
      if (!Object.hasOwn(properties, key)) {
        return [[key, isOpen && !patternProperties ? this.read(additional, item, [...path, key]) : item]];
      }
      const isOptional = !(Array.isArray(required) && required.includes(key));
      if (item === null && isOptional && !this.#branches(properties[key]).some((branch) => takes(branch, null)))
        return [];
      return [[key, this.read(properties[key], item, [...path, key])]];
    });
    return Object.fromEntries(fields);
  }

  /** The schemas of which a value has to be as one says; one without keywords where nothing is known. */
  #branches(schema: unknown, seen = new Set<unknown>()): Schema[] {
    if (seen.has(schema) || schema === false) return [];
    if (!isObject(schema)) return [{}];
    seen.add(schema);
    if (typeof schema['$ref'] === 'string') return this.#branches(this.#referred(schema['$ref']), seen);
    if (['type', 'properties', 'enum', 'const'].some((keyword) => keyword in schema)) return [schema];
    const { anyOf, oneOf, allOf } = schema;
    const several = anyOf ?? oneOf ?? (Array.isArray(allOf) && allOf.length === 1 ? allOf : undefined);
    return Array.isArray(several) ? several.flatMap((one) => this.#branches(one, seen)) : [{}];
  }

  #referred(reference: string): unknown {
    let at: unknown = this.root;
    for (const part of reference.split('/').slice(1)) {
      const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
      at = typeof at === 'object' && at !== null && Object.hasOwn(at, key) ? (at as Schema)[key] : undefined;
    }
    return /^#(?:\/|$)/.test(reference) ? at : undefined;
  }
}

const wrappers: readonly string[] = ['input', 'arguments', 'parameters'];

function unwrapped(schema: Schema, written: unknown): unknown {
  const { properties, additionalProperties: additional } = schema;
  const isKnown = isObject(properties) ? additional === undefined || additional === false : additional === false;
  const [key, ...others] = isObject(written) ? Object.keys(written) : [];
  if (!isKnown || key === undefined || others.length > 0 || !wrappers.includes(key)) return written;
  if (isObject(properties) && Object.hasOwn(properties, key)) return written;
  const inner = (written as Schema)[key];
  const value = typeof inner === 'string' ? spelled(inner) : inner;
  return isObject(value) ? value : written;
}

/** Whether a value is of a schema's types and words; its bounds are left to its tool. */
function takes(schema: Schema, value: unknown): boolean {
  if (value === undefined) return false;
  if (value === null && schema['nullable'] === true) return true;
  const { type } = schema;
  const types: unknown[] = Array.isArray(type) ? type : [type];
  return types.some((one) => isOfType(one, value)) && (wordsOf(schema)?.includes(value) ?? true);
}

/** Whether an object has what a schema requires, and its constants. */
function describes({ required, properties }: Schema, value: unknown): boolean {
  if (!isObject(value)) return true;
  const fields = Array.isArray(required) ? required : [];
  if (!fields.every((field) => Object.hasOwn(value, String(field)))) return false;
  if (!isObject(properties)) return true;
  return Object.entries(properties).every(([key, schema]) => {
    const field = Object.hasOwn(value, key) ? value[key] : undefined;
    if (field === undefined || !isObject(schema)) return true;
    return (
      (wordsOf(schema)?.includes(field) ?? true) || (typeof field === 'string' && word(schema, field) !== undefined)
    );
  });
}

function isOfType(type: unknown, value: unknown): boolean {
  if (type === 'integer') return Number.isInteger(value);
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') return isObject(value);
  if (type === 'null') return value === null;
  return type === 'string' || type === 'number' || type === 'boolean' ? typeof value === type : true;
}

function wordsOf(schema: Schema): readonly unknown[] | undefined {
  if ('const' in schema) return [schema['const']];
  return Array.isArray(schema['enum']) ? schema['enum'] : undefined;
}

/** The one word of an enumeration that a text equals but for case. */
function word(schema: Schema, text: string): unknown {
  const lower = text.toLowerCase();
  const alike = wordsOf(schema)?.filter((one) => typeof one === 'string' && one.toLowerCase() === lower) ?? [];
  return alike.length === 1 ? alike[0] : undefined;
}

/** The number, boolean, list or object that a text spells. A number that would be rounded is none. */
function spelled(text: string): unknown {
  if (text === 'true' || text === 'false') return text === 'true';
  if (/^-?(?:0|[1-9]\d{0,15})(?:\.\d{1,15})?$/.test(text)) {
    const digits = text.replaceAll(/\D/g, '').replace(/^0+/, '').length;
    return digits <= 15 || (!text.includes('.') && Number.isSafeInteger(Number(text))) ? Number(text) : undefined;
  }
  if (!/^\s*[[{]/.test(text) || countMembers(new TextEncoder().encode(text), maxCallMembers) > maxCallMembers)
    return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isShallow(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const maxShownFields = 5;
const maxShownChars = 40;

function unknownFields(keys: readonly string[], known: readonly string[]): string {
  const shown = keys.slice(0, maxShownFields).map((key) => JSON.stringify(beginningOf(key, maxShownChars)));
  const more = keys.length - shown.length;
  const names = more === 0 ? shown.join(', ') : `${shown.join(', ')} and ${String(more)} more`;
  return `unknown field${keys.length === 1 ? '' : 's'} ${names}; the fields are: ${known.join(', ') || 'none'}`;
}

function isObject(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
