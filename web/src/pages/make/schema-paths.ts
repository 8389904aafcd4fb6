/** A JSON Schema, as far as completion reads it. */
export interface Schema {
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, Schema>>;
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema | boolean;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly required?: readonly string[];
}

/** What stands for the place of an item in a list. */
const item = Symbol('an item');
type Path = readonly (string | typeof item)[];

/** Where something is being written: the fields around it, and the line itself. */
interface Place {
  readonly path: Path;
  /** The field whose value is being written; undefined where a field is. */
  readonly field?: string;
}

const beingField = /^(\s*)((?:- +)*)([\w-]*)$/;
const beingValue = /^(\s*)((?:- +)*)([\w.-]+):\s+[\w./-]*$/;
const anyField = /^(\s*)((?:- +)*)("[^"]*"|'[^']*'|[^\s#"'{[][^:]*?)\s*:(?:\s|$)/;

/** How far up the fields around a place are looked for. */
const mostLines = 5_000;

/**
 * Where in the file something is being written, by how far lines are indented; undefined in comments, texts and
 * `{…}`.
 *
 * @param before the lines before, and the beginning of this one
 */
export function placeIn(before: readonly string[]): Place | undefined {
  const line = before.at(-1) ?? '';
  const value = beingValue.exec(line);
  const match = value ?? beingField.exec(line);
  if (!match) return undefined;
  const [, space = '', dashes = '', name = ''] = match;
  const path: (string | typeof item)[] = [];
  // How far what is looked for is indented at the most: a list may stand right below its field.
  const sought = { limit: space.length + dashes.length, isList: false };
  const enterItem = (indent: number) => {
    path.unshift(item);
    Object.assign(sought, { limit: indent, isList: true });
  };
  if (dashes !== '') enterItem(space.length);
  for (
    let at = before.length - 2;
    at >= 0 && before.length - at < mostLines && (sought.limit > 0 || sought.isList);
    at--
  ) {
    const above = anyField.exec(before[at] ?? '');
    if (!above) continue;
    const [, indent = '', marks = '', key = ''] = above;
    const own = indent.length + marks.length;
    const { limit, isList } = sought;
    if (marks !== '' && indent.length < limit && own >= limit && !isList) enterItem(indent.length);
    else if (own < limit || (isList && marks === '' && own === limit)) {
      path.unshift(key.replaceAll(/^["']|["']$/g, ''));
      Object.assign(sought, { limit: own, isList: false });
      if (marks !== '') enterItem(indent.length);
    }
  }
  return value ? { path, field: name } : { path };
}

/** The schemas that may describe what is at a path. */
function at(root: Schema, path: Path): readonly Schema[] {
  return path.reduce<readonly Schema[]>(
    (here, step) => here.flatMap((schema) => alternatives(root, below(schema, step))),
    alternatives(root, [root]),
  );
}

function below(schema: Schema, step: string | typeof item): Schema[] {
  const { properties = {}, additionalProperties, items } = schema;
  const next = step === item ? items : (properties[step] ?? additionalProperties);
  return typeof next === 'object' ? [next] : [];
}

function alternatives(root: Schema, schemas: readonly Schema[], depth = 0): readonly Schema[] {
  if (depth > 8) return [];
  return schemas.flatMap((schema) => {
    const { $ref, anyOf = [], oneOf = [], allOf = [] } = schema;
    const named = $ref === undefined ? undefined : root.$defs?.[$ref.replace('#/$defs/', '')];
    const inner = [...(named ? [named] : []), ...anyOf, ...oneOf, ...allOf];
    return [schema, ...(inner.length === 0 ? [] : alternatives(root, inner, depth + 1))];
  });
}

/** A word that may be written in a place. */
export interface Word {
  readonly label: string;
  /** What it is, in a word. */
  readonly detail: string;
  readonly isField: boolean;
  readonly isRequired: boolean;
}

/** What may be written in a place of a file. */
export function wordsAt(root: Schema, place: Place): Word[] {
  const here = at(root, place.field === undefined ? place.path : [...place.path, place.field]);
  const words = new Map<string, Word>();
  const add = (word: Word) => words.has(word.label) || words.set(word.label, word);
  for (const schema of here) {
    const values = [...(schema.enum ?? []), ...(schema.const === undefined ? [] : [schema.const])];
    const all = schema.type === 'boolean' ? [...values, true, false] : values;
    for (const value of all) add({ label: String(value), detail: '', isField: false, isRequired: false });
    if (place.field !== undefined) continue;
    for (const [label, inner] of Object.entries(schema.properties ?? {})) {
      const isRequired = schema.required?.includes(label) ?? false;
      add({ label, detail: kindOf(alternatives(root, [inner])), isField: true, isRequired });
    }
  }
  return [...words.values()];
}

function kindOf(schemas: readonly Schema[]): string {
  const kinds: Readonly<Record<string, string>> = {
    string: 'text',
    integer: 'number',
    number: 'number',
    boolean: 'true or false',
    array: 'list',
    object: 'fields',
  };
  const named = schemas.flatMap(({ type }) => type ?? []).flatMap((type) => kinds[type] ?? []);
  return [...new Set(named)].join(' or ');
}
