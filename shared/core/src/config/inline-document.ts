import { dirname, extname, relative, resolve } from 'node:path';
import { type Document, isMap, isNode, isScalar, isSeq, type Node, parseDocument, visit, type YAMLMap } from 'yaml';
import { importPathOf } from './import-marker.js';
import { mayExtend, staysAsItIs } from './resolve-extends.js';

/** How imports are written out in their place. */
export interface Inlining {
  /** The directory of the file. */
  readonly base: string;
  /** Reads an imported file. */
  readonly read: (path: string) => string;
}

/** Replaces aliases by what they stand for. */
export function writeOutAliases(document: Document): void {
  visit(document, { Alias: (_key, alias) => alias.resolve(document)?.clone() as Node | undefined });
  visit(document, { Value: (_key, node) => void delete node.anchor });
}

/** Replaces imports of data by the files, and merges what is extended. Imports of text stay, with their path from `base`. */
export function writeOutParts(document: Document, inlining: Inlining): void {
  const writer = new PartWriter(inlining);
  if (document.contents) document.contents = writer.merged(writer.withImports(document.contents, inlining.base, true));
}

class PartWriter {
  /** The maps that are the root of a file, where `extends` may be one object. */
  readonly #roots = new WeakSet<Node>();

  constructor(private readonly inlining: Inlining) {}

  withImports(node: Node, directory: string, isRoot = false): Node {
    if (isMap(node)) {
      if (isRoot) this.#roots.add(node);
      for (const pair of node.items) if (isNode(pair.value)) pair.value = this.withImports(pair.value, directory);
    } else if (isSeq(node)) {
      node.items = node.items.map((item) => (isNode(item) ? this.withImports(item, directory) : item));
    } else if (isScalar(node) && typeof node.value === 'string' && !String(node.type).startsWith('BLOCK')) {
      const path = importPathOf(node.value);
      return path === undefined ? node : (this.#imported(resolve(directory, path)) ?? node);
    }
    return node;
  }

  #imported(path: string): Node | undefined {
    const { base, read } = this.inlining;
    if (!/^\.(?:json|ya?ml)$/i.test(extname(path))) {
      return parseDocument(JSON.stringify(`@import(${relative(base, path)})`)).contents ?? undefined;
    }
    const document = parseDocument(read(path));
    writeOutAliases(document);
    return document.contents ? this.withImports(document.contents, dirname(path), true) : undefined;
  }

  merged(node: Node, isExtended = false): Node {
    if (isSeq(node)) node.items = node.items.map((item) => (isNode(item) ? this.merged(item) : item));
    if (!isMap(node)) return node;
    const extended: unknown = node.get('extends', true);
    const isMerged = mayExtend({ isRoot: this.#roots.has(node), isExtended, isList: isSeq(extended) });
    if (isMerged) removeExtends(node);
    for (const pair of node.items) {
      if (isNode(pair.value) && !staysAsItIs(String(pair.key))) pair.value = this.merged(pair.value);
    }
    if (!isMerged || !isNode(extended)) return node;
    const bases = (isSeq(extended) ? extended.items : [extended])
      .filter(isNode)
      .map((base) => this.merged(base, true))
      .filter(isMap);
    return [...bases, node].reduce((below, above) => merge(below, above));
  }
}

/** The comment before it may be that of the file. */
function removeExtends(map: YAMLMap): void {
  const at = map.items.findIndex(({ key }) => String(key) === 'extends');
  const [removed] = at < 0 ? [] : map.items.splice(at, 1);
  if (at === 0 && isNode(removed?.key)) map.commentBefore ??= removed.key.commentBefore ?? null;
}

/** Merged in place, in the form of the one on top; fields keep the order in which they first appeared. */
function merge(below: YAMLMap, above: YAMLMap): YAMLMap {
  const first = below.items[0]?.key;
  if (isScalar(first)) first.commentBefore ??= below.commentBefore ?? null;
  const own = new Map(above.items.map((pair) => [String(pair.key), pair]));
  const items = below.items.map((pair) => {
    const upper = own.get(String(pair.key));
    if (upper === undefined) return pair;
    own.delete(String(pair.key));
    if (isMap(pair.value) && isMap(upper.value)) merge(pair.value, upper.value);
    return upper;
  });
  above.items = [...items, ...own.values()];
  return above;
}
