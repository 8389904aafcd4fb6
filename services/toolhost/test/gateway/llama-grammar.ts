// How `llama-server` makes a grammar of a tool's schema: the part of its converter (`common/json-schema-to-grammar.cpp`) that tools
// need, written anew. `llama-grammars.json` has what the converter itself made of some schemas, recorded with release b10257.

type Schema = Readonly<Record<string, unknown>>;

const primitives: Readonly<Record<string, readonly [rule: string, ...needs: string[]]>> = {
  boolean: ['("true" | "false")'],
  'decimal-part': ['[0-9]{1,16}'],
  'integral-part': ['[0] | [1-9] [0-9]{0,15}'],
  number: ['("-"? integral-part) ("." decimal-part)? ([eE] [-+]? integral-part)?', 'integral-part', 'decimal-part'],
  integer: ['("-"? integral-part)', 'integral-part'],
  value: [
    'object | array | string | number | boolean | null',
    'object',
    'array',
    'string',
    'number',
    'boolean',
    'null',
  ],
  object: ['"{" space ( string ":" space value ("," space string ":" space value)* )? space "}"', 'string', 'value'],
  array: ['"[" space ( value ("," space value)* )? space "]"', 'value'],
  char: [String.raw`[^"\\\x7F\x00-\x1F] | [\\] (["\\bfnrt] | "u" [0-9a-fA-F]{4})`],
  string: [String.raw`"\"" char* "\""`, 'char'],
  null: ['"null"'],
};

const literal = (value: unknown) =>
  `"${JSON.stringify(value).replaceAll(/[\r\n"\\]/g, (sign) => ({ '\r': '\\r', '\n': '\\n' })[sign] ?? `\\${sign}`)}"`;

/** The grammar of a schema, as text. */
export function grammarOf(schema: Schema): string {
  const grammar = new Grammar();
  grammar.visit(schema, '');
  return grammar.text;
}

class Grammar {
  readonly #rules = new Map([['space', String.raw`| " " | "\n"{1,2} [ \t]{0,20}`]]);

  get text(): string {
    const rules = [...this.#rules].toSorted(([a], [b]) => (a < b ? -1 : 1));
    return rules.map(([name, rule]) => `${name} ::= ${rule}\n`).join('');
  }

  visit(schema: Schema, name: string): string {
    const ruleName = name === 'root' || name in primitives ? `${name}-` : name === '' ? 'root' : name;
    const {
      type,
      anyOf,
      enum: values,
      properties,
      additionalProperties,
      items,
      pattern,
      maxLength,
      minLength,
    } = schema;
    if (Array.isArray(anyOf)) {
      const between = name === '' ? 'alternative-' : '-';
      const rules = (anyOf as Schema[]).map((one, at) => this.visit(one, `${name}${between}${at}`));
      return this.#add(ruleName, rules.join(' | '));
    }
    if (Array.isArray(values)) return this.#add(ruleName, `(${values.map(literal).join(' | ')})`);
    const hasFields = properties !== undefined || (additionalProperties !== undefined && additionalProperties !== true);
    if ((type === undefined || type === 'object') && hasFields) return this.#add(ruleName, this.#object(schema, name));
    if ((type === undefined || type === 'array') && items !== undefined) {
      const item = this.visit(items as Schema, within(name, 'item'));
      const list = repeated(item, Number(schema['minItems'] ?? 0), Number(schema['maxItems'] ?? Infinity), '"," space');
      return this.#add(ruleName, `"[" space ${list} space "]"`);
    }
    if ((type === undefined || type === 'string') && typeof pattern === 'string') {
      return this.#add(ruleName, String.raw`"\"" (${patternRule(pattern)}) "\""`);
    }
    if (type === 'string' && (minLength !== undefined || maxLength !== undefined)) {
      const chars = repeated(this.#primitive('char'), Number(minLength ?? 0), Number(maxLength ?? Infinity));
      return this.#add(ruleName, String.raw`"\"" ${chars} "\""`);
    }
    if (Object.keys(schema).length === 0 || type === 'object') return this.#add(ruleName, this.#primitive('object'));
    if (type === undefined) return this.#add(ruleName, this.#primitive('value'));
    if (typeof type !== 'string' || !(type in primitives))
      throw new Error(`Unrecognized schema: ${JSON.stringify(schema)}`);
    return this.#primitive(type, ruleName === 'root' ? 'root' : type);
  }

  #object({ properties = {}, required, additionalProperties }: Schema, name: string): string {
    const fields = Object.entries(properties as Record<string, Schema>);
    const rules = new Map(
      fields.map(([field, schema]) => {
        const rule = this.visit(schema, within(name, field));
        return [field, this.#add(`${within(name, field)}-kv`, `${literal(field)} space ":" space ${rule}`)];
      }),
    );
    const isRequired = (field: string) => Array.isArray(required) && required.includes(field);
    const names = fields.map(([field]) => field);
    const optional = names.filter((field) => !isRequired(field));
    if (additionalProperties === true || typeof additionalProperties === 'object') {
      if (names.length > 0) throw new Error('Fields beside a map are not ported.');
      const other = within(name, 'additional');
      const value =
        additionalProperties === true
          ? this.#primitive('value')
          : this.visit(additionalProperties as Schema, `${other}-value`);
      rules.set('*', this.#add(`${other}-kv`, `${this.#primitive('string')} ":" space ${value}`));
      optional.push('*');
    }
    const demanded = names.filter(isRequired).map((field) => rules.get(field) ?? '');
    const choices = optional.map((_, at) => this.#rest(optional.slice(at), rules, name, false)).join(' | ');
    const tail =
      optional.length === 0 ? '' : demanded.length > 0 ? ` ( "," space ( ${choices} ) )?` : ` (${choices} )?`;
    return `"{" space ${demanded.join(' "," space ')}${tail} space "}"`;
  }

  #rest([first = '', ...others]: string[], rules: ReadonlyMap<string, string>, name: string, isLater: boolean): string {
    const rule = rules.get(first) ?? '';
    const again = `( "," space ${rule} )`;
    const own = isLater ? `${again}${first === '*' ? '*' : '?'}` : `${rule}${first === '*' ? ` ${again}*` : ''}`;
    if (others.length === 0) return own;
    return `${own} ${this.#add(`${within(name, first)}-rest`, this.#rest(others, rules, name, true))}`;
  }

  #primitive(name: string, as = name): string {
    const [rule = '', ...needs] = primitives[name] ?? [];
    const added = this.#add(as, rule);
    for (const need of needs) if (!this.#rules.has(need)) this.#primitive(need);
    return added;
  }

  #add(name: string, rule: string): string {
    const plain = name.replaceAll(/[^a-zA-Z0-9-]+/g, '-');
    const names = [plain, ...Array.from({ length: 100 }, (_, at) => `${plain}${at}`)];
    const free = names.find((one) => (this.#rules.get(one) ?? rule) === rule) ?? plain;
    this.#rules.set(free, rule);
    return free;
  }
}

const within = (name: string, field: string) => (name === '' ? field : `${name}-${field}`);

function repeated(rule: string, min: number, max: number, separator = ''): string {
  if (max === 0) return '';
  if (min === 0 && max === 1) return `${rule}?`;
  if (separator !== '') {
    const more = repeated(`(${separator} ${rule})`, Math.max(0, min - 1), max - 1);
    return min === 0 ? `(${rule} ${more})?` : `${rule} ${more}`;
  }
  if (max === Infinity && min <= 1) return `${rule}${min === 1 ? '+' : '*'}`;
  return `${rule}{${min},${max === Infinity ? '' : max}}`;
}

/** Of patterns, those of sets of characters and their repetitions alone: sets go into a grammar as they stand. */
function patternRule(pattern: string): string {
  if (!pattern.startsWith('^') || !pattern.endsWith('$'))
    throw new Error("Pattern must start with '^' and end with '$'");
  return (pattern.slice(1, -1).match(/\[(?:\\.|[^\]])*\][*+?]?|\\.[*+?]?/g) ?? []).join(' ');
}
