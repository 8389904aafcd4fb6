import { Composer, type Document, isAlias, isMap, isScalar, isSeq, Lexer, LineCounter, type Node, Parser } from 'yaml';
import type { CST, ParsedNode, Scalar, YAMLMap, YAMLSeq } from 'yaml';
import type { ConfigNode, MapEntry } from './config-node.js';
import type { Place, ProblemList } from './config-problem.js';
import { isImportMarker } from './import-marker.js';
import { configLimits } from './limits.js';

/**
 * Reads one YAML (or JSON) document into a tree with positions. Input is hostile: nesting, aliases and the number of
 * values are limited, and what readers interpret differently (tags, merge keys, directives, duplicate keys, several
 * documents) is a problem.
 *
 * A bare `@import(path)` is accepted although `@` may not begin a YAML scalar: the parser reads it as one and reports
 * the character, and that report is dropped.
 */
export function readYaml(text: string, file: string, problems: ProblemList, budget: ReadBudget): ConfigNode {
  return new YamlReader(file, problems, budget).read(text);
}

/** The remaining limits of a project file, its imports included. */
export interface ReadBudget {
  bytes: number;
  values: number;
}

/** The initial limits of a project file. */
export function fullBudget(): ReadBudget {
  return { bytes: configLimits.totalBytes, values: configLimits.values };
}

class YamlReader {
  readonly #lines = new LineCounter();
  readonly #anchors = new Map<string, { node: ConfigNode; values: number }>();
  #text = '';

  constructor(
    private readonly file: string,
    private readonly problems: ProblemList,
    private readonly budget: ReadBudget,
  ) {}

  read(text: string): ConfigNode {
    this.#text = text;
    this.#lines.addNewLine(0);
    const tokens = this.#parse();
    if (tokens === undefined) return this.#broken(0);
    const composer = new Composer({ version: '1.2', schema: 'core', merge: false, uniqueKeys: false });
    const documents = composer.compose(tokens);
    const [document, second] = [documents.next().value, documents.next().value];
    if (second !== undefined) {
      this.problems.add('document-count', this.#place(second.range[0]), 'a file holds one YAML document');
      return this.#broken(0);
    }
    if (!document?.contents || (isScalar(document.contents) && document.contents.source === '')) {
      this.problems.add('document-count', this.#place(0), 'the file is empty');
      return this.#broken(0);
    }
    if (this.#reportErrors(document)) return this.#broken(0);
    const root = this.#convert(document.contents);
    return root.kind === 'map' ? { ...root, wholeFile: true } : root;
  }

  /** The syntax tree; nesting is limited here, before anything recursive sees it. */
  #parse(): CST.Token[] | undefined {
    const parser = new Parser(this.#lines.addNewLine);
    const tokens: CST.Token[] = [];
    let lexemes = 0;
    for (const lexeme of new Lexer().lex(this.#text)) {
      for (const token of parser.next(lexeme)) tokens.push(token);
      if (parser.stack.length > configLimits.nesting) {
        const message = `lists and maps are nested more than ${configLimits.nesting} deep`;
        this.problems.add('too-deep', this.#place(parser.offset), message);
        return undefined;
      }
      if (++lexemes > configLimits.lexemes) {
        const message = `the file has more than ${configLimits.lexemes} words and signs`;
        this.problems.add('too-large', this.#place(parser.offset), message);
        return undefined;
      }
    }
    for (const token of parser.end()) tokens.push(token);
    return tokens.some((token) => this.#isForeignDirective(token)) ? undefined : tokens;
  }

  #isForeignDirective(token: CST.Token): boolean {
    if (token.type !== 'directive' || /^%YAML\s+1\.2\s*$/.test(token.source)) return false;
    const message = `${token.source.trim()}: directives are not understood here`;
    this.problems.add('yaml-unsupported', this.#place(token.offset), message);
    return true;
  }

  #reportErrors(document: Document.Parsed): boolean {
    const bareImports = new Set<number>();
    collectBareImports(document.contents, bareImports);
    const reported = new Set<number>();
    for (const error of [...document.errors, ...document.warnings]) {
      const bareImport = error.code === 'BAD_SCALAR_START' && bareImports.has(error.pos[0]);
      if (bareImport || reported.has(error.pos[0])) continue;
      reported.add(error.pos[0]);
      const code = error.code === 'TAG_RESOLVE_FAILED' ? 'yaml-unsupported' : 'yaml-syntax';
      this.problems.add(code, this.#place(error.pos[0]), explain(error.code, error.message));
    }
    return reported.size > 0;
  }

  #convert(node: Node): ConfigNode {
    const offset = node.range?.[0] ?? 0;
    if (isAlias(node)) return this.#alias(node.source, offset);
    const before = this.budget.values;
    if (!this.#count(1, offset)) return this.#broken(offset);
    const converted = this.#convertValue(node, offset);
    const { anchor } = node;
    if (anchor !== undefined) this.#anchors.set(anchor, { node: converted, values: before - this.budget.values });
    return converted;
  }

  #convertValue(node: Scalar | YAMLMap | YAMLSeq, offset: number): ConfigNode {
    const place = this.#place(offset);
    if (isMap(node)) return { kind: 'map', entries: this.#entries(node), place, wholeFile: false };
    if (isSeq(node)) return { kind: 'list', items: node.items.map((item) => this.#convert(item as Node)), place };
    const { value } = node;
    if (typeof value === 'string' && /\p{Surrogate}/u.test(value)) {
      this.problems.add('text-invalid', place, 'the text holds half of a surrogate pair, which is no character');
      return this.#broken(offset);
    }
    return {
      kind: 'scalar',
      value: value as string | number | boolean | null,
      place,
      style: node.type === 'BLOCK_LITERAL' || node.type === 'BLOCK_FOLDED' ? 'block' : 'inline',
      source: this.#text.slice(offset, node.range?.[1] ?? offset),
    };
  }

  #entries(map: YAMLMap): Map<string, MapEntry> {
    const entries = new Map<string, MapEntry>();
    for (const { key, value } of map.items as { key: Node; value: ParsedNode | null }[]) {
      const offset = key.range?.[0] ?? 0;
      const keyPlace = this.#place(offset);
      const name = isScalar(key) && key.value !== null ? key.source : undefined;
      if (name === undefined || name === '__proto__') {
        this.problems.add('key-invalid', keyPlace, 'a key must be a plain name');
        continue;
      }
      if (name === '<<') {
        this.problems.add('yaml-unsupported', keyPlace, 'merge keys (<<) are not understood: use extends');
        continue;
      }
      if (entries.has(name)) {
        this.problems.add('duplicate-key', keyPlace, `\`${name}\` stands here a second time`);
        continue;
      }
      entries.set(name, { keyPlace, value: value === null ? this.#nothing(offset) : this.#convert(value) });
    }
    return entries;
  }

  #nothing(offset: number): ConfigNode {
    this.#count(1, offset);
    return { kind: 'scalar', value: null, place: this.#place(offset), style: 'inline', source: '' };
  }

  #alias(name: string, offset: number): ConfigNode {
    const target = this.#anchors.get(name);
    if (target === undefined) {
      const message = `*${name} stands for nothing that is complete before it`;
      this.problems.add('alias-unknown', this.#place(offset), message);
      return this.#broken(offset);
    }
    return this.#count(target.values, offset) ? target.node : this.#broken(offset);
  }

  /** Counts values; `false` once there are too many, which is reported once. */
  #count(values: number, offset: number): boolean {
    const before = this.budget.values;
    this.budget.values -= values;
    if (this.budget.values >= 0) return true;
    if (before >= 0) {
      const message = `there are more than ${configLimits.values} values, imports and aliases counted with all they hold`;
      this.problems.add('too-large', this.#place(offset), message);
    }
    return false;
  }

  #broken(offset: number): ConfigNode {
    return { kind: 'broken', place: this.#place(offset) };
  }

  #place(offset: number): Place {
    const { line, col } = this.#lines.linePos(offset);
    return { file: this.file, line: Math.max(line, 1), column: Math.max(col, 1) };
  }
}

/** Offsets of the plain scalars in value position that are imports, or escaped ones. */
function collectBareImports(node: unknown, offsets: Set<number>): void {
  if (isMap(node)) {
    for (const { value } of node.items) collectBareImports(value, offsets);
  } else if (isSeq(node)) {
    for (const item of node.items) collectBareImports(item, offsets);
  } else if (isScalar(node) && node.type === 'PLAIN' && isImportMarker(node.source ?? '')) {
    const offset = node.range?.[0];
    if (offset !== undefined) offsets.add(offset);
  }
}

function explain(code: string, message: string): string {
  if (code === 'BAD_SCALAR_START') return `${message}; put quotes around the value`;
  if (code === 'BLOCK_AS_IMPLICIT_KEY')
    return `${message}; see that keys which belong together begin in the same column, and put quotes around a text that has a colon and a space in it`;
  if (code === 'TAG_RESOLVE_FAILED') return `${message}: tags are not understood here`;
  return message;
}
