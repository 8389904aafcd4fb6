import { childOf, type ConfigNode, itemsOf, type MapEntry, type MapNode } from './config-node.js';
import type { ProblemList } from './config-problem.js';

/**
 * Merges what objects extend: the objects under `extends`, first to last, and then the object itself on top. `extends`
 * applies at the root of a file, of an imported file, and of an extended object, and in any object where it is a list;
 * elsewhere it is an ordinary field.
 */
export function resolveExtends(root: ConfigNode, problems: ProblemList): ConfigNode {
  return resolve(root, false, problems);
}

/** Whether the `extends` of an object is what it extends, and no field like any other. */
export function mayExtend(map: { isRoot: boolean; isExtended: boolean; isList: boolean }): boolean {
  return map.isRoot || map.isExtended || map.isList;
}

/** Whether the objects in a field may have any fields. */
export function staysAsItIs(field: string): boolean {
  return ['script', 'providerOptions', 'options'].includes(field);
}

function resolve(node: ConfigNode, isExtended: boolean, problems: ProblemList): ConfigNode {
  if (node.kind === 'list') return { ...node, items: node.items.map((item) => resolve(item, false, problems)) };
  if (node.kind !== 'map') return node;
  const isList = childOf(node, 'extends')?.kind === 'list';
  const extending = mayExtend({ isRoot: node.wholeFile, isExtended, isList });
  const own = new Map<string, MapEntry>();
  for (const [key, entry] of node.entries) {
    if (extending && key === 'extends') continue;
    own.set(key, staysAsItIs(key) ? entry : { ...entry, value: resolve(entry.value, false, problems) });
  }
  const local: MapNode = { ...node, entries: own };
  const extendsEntry = extending ? node.entries.get('extends') : undefined;
  if (extendsEntry === undefined) return local;
  return [...basesOf(extendsEntry.value, problems), local].reduce<MapNode>(merge, { ...local, entries: new Map() });
}

function basesOf(value: ConfigNode, problems: ProblemList): MapNode[] {
  const bases: MapNode[] = [];
  for (const candidate of value.kind === 'list' ? itemsOf(value) : [value]) {
    const base = resolve(candidate, true, problems);
    if (base.kind === 'map') bases.push(base);
    else if (base.kind !== 'broken') {
      problems.add('extends-invalid', base.place, 'extends takes an object or a list of objects, usually imports');
    }
  }
  return bases;
}

/** Merges objects, and replaces anything else; fields keep the order in which they first appeared. */
function merge(below: MapNode, above: MapNode): MapNode {
  const entries = new Map(below.entries);
  for (const [key, entry] of above.entries) {
    const lower = entries.get(key);
    const both = lower?.value.kind === 'map' && entry.value.kind === 'map';
    entries.set(key, both ? { ...entry, value: merge(lower.value, entry.value) } : entry);
  }
  return { ...above, entries };
}
