import { isDeepStrictEqual } from 'node:util';
import {
  type ConfigNode,
  type ConfigPath,
  itemsOf,
  type ListNode,
  locate,
  type MapEntry,
  type MapNode,
  toPlain,
} from './config-node.js';
import type { Place } from './config-problem.js';

/** A change of a file: a key goes, stands elsewhere, has another value, or a list has one more. */
export type Edit =
  | { readonly remove: ConfigPath }
  | { readonly move: ConfigPath; readonly to: ConfigPath }
  | { readonly set: ConfigPath; readonly value: NewValue }
  | { readonly append: ConfigPath; readonly value: string };

export type NewValue = string | readonly string[];

/** The node at a path; undefined where there is none. */
export function nodeAt(root: ConfigNode, path: ConfigPath): ConfigNode | undefined {
  const found = locate(root, path);
  return found.complete ? found.node : undefined;
}

/** The place of a key, or of an entry of a list. */
export function placeOf(root: ConfigNode, path: ConfigPath): Place {
  const found = locate(root, path);
  return found.keyPlace ?? found.node.place;
}

/** Whether two values of a file are the same; `${N}` makes texts of numbers. */
export function isSameValue(one: ConfigNode, other: ConfigNode): boolean {
  return isDeepStrictEqual(asTexts(toPlain(one)), asTexts(toPlain(other)));
}

function asTexts(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(asTexts);
  if (typeof value !== 'object' || value === null) return String(value);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, asTexts(item)]));
}

/**
 * A tree that is changed in place: a copy for each change would take long with thousands of them. Everything keeps its
 * place; what is new has that of the key that it comes from.
 */
export class EditedTree {
  readonly root: ConfigNode;

  constructor(root: ConfigNode) {
    this.root = copyOf(root);
  }

  apply(edit: Edit, place: Place): void {
    if ('remove' in edit) {
      this.#remove(edit.remove);
    } else if ('set' in edit) {
      this.#put(edit.set, { keyPlace: place, value: newNode(edit.value, place) });
    } else if ('append' in edit) {
      const items = [...itemsOf(nodeAt(this.root, edit.append)), newNode(edit.value, place)];
      this.#put(edit.append, { keyPlace: place, value: { kind: 'list', items, place } });
    } else {
      this.#move(edit.move, edit.to);
    }
  }

  /** Replaces a key that was reported, so that nothing more is reported of it. */
  break(path: ConfigPath): void {
    const place = placeOf(this.root, path);
    this.#put(path, { keyPlace: place, value: { kind: 'broken', place } });
  }

  #move(from: ConfigPath, to: ConfigPath): void {
    const { node, keyPlace, complete } = locate(this.root, from);
    if (!complete) return;
    this.#remove(from);
    // Where both stand, they say the same, or it was refused.
    if (nodeAt(this.root, to) === undefined) this.#put(to, { keyPlace: keyPlace ?? node.place, value: node });
  }

  #remove(path: ConfigPath): void {
    const parent = nodeAt(this.root, path.slice(0, -1));
    const last = path.at(-1);
    if (parent?.kind === 'map') entriesOf(parent).delete(String(last));
    if (parent?.kind === 'list') itemsIn(parent).splice(Number(last), 1);
  }

  /** Puts an entry at a path, in maps that are made where they are missing. */
  #put(path: ConfigPath, { keyPlace, value }: MapEntry): void {
    let node = this.root;
    for (const [depth, segment] of path.entries()) {
      const isLast = depth === path.length - 1;
      if (node.kind === 'list' && isLast) itemsIn(node)[Number(segment)] = value;
      if (node.kind === 'map') {
        const key = String(segment);
        const present = node.entries.get(key);
        if (isLast) entriesOf(node).set(key, { keyPlace: present?.keyPlace ?? keyPlace, value });
        else if (present === undefined) {
          entriesOf(node).set(key, {
            keyPlace,
            value: { kind: 'map', entries: new Map(), place: keyPlace, wholeFile: false },
          });
        }
      }
      const next = nodeAt(node, [segment]);
      if (next === undefined) return;
      node = next;
    }
  }
}

/** The nodes of an edited tree are its own, and change. */
const entriesOf = (map: MapNode) => map.entries as Map<string, MapEntry>;
const itemsIn = (list: ListNode) => list.items as ConfigNode[];

function copyOf(node: ConfigNode): ConfigNode {
  if (node.kind === 'list') return { ...node, items: node.items.map(copyOf) };
  if (node.kind !== 'map') return node;
  const entries = [...node.entries].map(([key, entry]) => [key, { ...entry, value: copyOf(entry.value) }] as const);
  return { ...node, entries: new Map(entries) };
}

function newNode(value: NewValue, place: Place): ConfigNode {
  if (typeof value !== 'string') return { kind: 'list', items: value.map((item) => newNode(item, place)), place };
  return { kind: 'scalar', value, place, style: 'inline', source: value };
}
