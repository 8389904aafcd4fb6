import type { Place } from './config-problem.js';

/** The parsed tree of a file: plain data with positions. Nodes are immutable; each stage of loading builds new ones. */
export type ConfigNode = ScalarNode | ListNode | MapNode | BrokenNode;

export interface ScalarNode {
  readonly kind: 'scalar';
  readonly value: string | number | boolean | null;
  readonly place: Place;
  /**
   * `inline`: on the field's own line or quoted; `block`: a block of lines; `verbatim`: from an imported text, left
   * unchanged.
   */
  readonly style: 'inline' | 'block' | 'verbatim';
  /** The scalar's text in the file, to locate parts of it. */
  readonly source: string;
}

export interface ListNode {
  readonly kind: 'list';
  readonly items: readonly ConfigNode[];
  readonly place: Place;
}

export interface MapNode {
  readonly kind: 'map';
  readonly entries: ReadonlyMap<string, MapEntry>;
  readonly place: Place;
  /** Whether this is the root of a file, where `extends` applies. */
  readonly wholeFile: boolean;
}

export interface MapEntry {
  readonly keyPlace: Place;
  readonly value: ConfigNode;
}

/** Marks a reported problem, so that nothing more is reported of it. */
export interface BrokenNode {
  readonly kind: 'broken';
  readonly place: Place;
}

export type PathSegment = string | number;
export type ConfigPath = readonly PathSegment[];

/** The value of a key in a map. */
export function childOf(node: ConfigNode | undefined, key: string): ConfigNode | undefined {
  return node?.kind === 'map' ? node.entries.get(key)?.value : undefined;
}

/** The entries of a map; none where the node is something else. */
export function entriesOf(node: ConfigNode | undefined): [string, MapEntry][] {
  return node?.kind === 'map' ? [...node.entries] : [];
}

/** The items of a list; none where the node is something else. */
export function itemsOf(node: ConfigNode | undefined): readonly ConfigNode[] {
  return node?.kind === 'list' ? node.items : [];
}

/** The text of a scalar, where it is one. */
export function textOf(node: ConfigNode | undefined): string | undefined {
  return node?.kind === 'scalar' && typeof node.value === 'string' ? node.value : undefined;
}

/** The data of a tree, without positions. Broken nodes become `undefined`. */
export function toPlain(node: ConfigNode): unknown {
  switch (node.kind) {
    case 'scalar':
      return node.value;
    case 'list':
      return node.items.map(toPlain);
    case 'map':
      return Object.fromEntries([...node.entries].map(([key, entry]) => [key, toPlain(entry.value)]));
    case 'broken':
      return undefined;
  }
}

/** The result of following a path: the deepest node on it, its key, and whether that is the path's end. */
export interface Located {
  readonly node: ConfigNode;
  readonly keyPlace: Place | undefined;
  readonly complete: boolean;
}

/** Follows a path as far as it goes. */
export function locate(root: ConfigNode, path: ConfigPath): Located {
  let found: Located = { node: root, keyPlace: undefined, complete: true };
  for (const segment of path) {
    const next = step(found.node, segment);
    if (next === undefined) return { ...found, complete: false };
    found = next;
  }
  return found;
}

function step(node: ConfigNode, segment: PathSegment): Located | undefined {
  if (node.kind === 'map') {
    const entry = node.entries.get(String(segment));
    return entry && { node: entry.value, keyPlace: entry.keyPlace, complete: true };
  }
  const item = node.kind === 'list' ? node.items[Number(segment)] : undefined;
  return item && { node: item, keyPlace: undefined, complete: true };
}

/** A copy of a tree with `change` applied to every scalar. */
export function mapScalars(
  node: ConfigNode,
  change: (scalar: ScalarNode, path: ConfigPath) => ConfigNode,
  path: ConfigPath = [],
): ConfigNode {
  switch (node.kind) {
    case 'scalar':
      return change(node, path);
    case 'list':
      return { ...node, items: node.items.map((item, index) => mapScalars(item, change, [...path, index])) };
    case 'map': {
      const entries = [...node.entries].map(
        ([key, entry]) => [key, { ...entry, value: mapScalars(entry.value, change, [...path, key]) }] as const,
      );
      return { ...node, entries: new Map(entries) };
    }
    case 'broken':
      return node;
  }
}
