import { childOf, itemsOf, textOf, toPlain } from './config-node.js';
import { nodeAt } from './edit.js';
import type { Found } from './published-key.js';

type Value = Pick<Found, 'value'>;

/** A field of a value; undefined where it has none. */
export function fieldOf({ value }: Value, name: string): unknown {
  const isMap = typeof value === 'object' && value !== null && Object.hasOwn(value, name);
  return isMap ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
}

/** A field beside a found key. */
export function sibling({ root, path }: Found, name: string): unknown {
  const node = nodeAt(root, beside({ path }, name));
  return node && toPlain(node);
}

/** The path of a field beside a found key. */
export function beside({ path }: Pick<Found, 'path'>, name: string): Found['path'] {
  return [...path.slice(0, -1), name];
}

/** The last name of a path. */
export function lastOf({ path }: Pick<Found, 'path'>): string {
  return String(path.at(-1) ?? '');
}

export const isEqual =
  (text: string) =>
  ({ value }: Value): boolean =>
    value === text;

/** Whether it says `enabled: false`. */
export function isOff(found: Value): boolean {
  return String(fieldOf(found, 'enabled')) === 'false';
}

/** Whether it does not say `enabled: true`. */
export function isNotOn(found: Value): boolean {
  return String(fieldOf(found, 'enabled')) !== 'true';
}

/** Whether it is an empty list or map. */
export function isEmpty({ value }: Value): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

/** Whether it is a map, or a list, of nothing but empty ones. */
export function holdsNothing({ value }: Value): boolean {
  return (
    typeof value === 'object' && value !== null && Object.values(value).every((one: unknown) => isEmpty({ value: one }))
  );
}

/** Whether every field of a map has one of the values that are given for it. */
export function hasOnly({ value }: Value, given: Readonly<Record<string, readonly unknown[]>>): boolean {
  const isMap = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isMap && Object.entries(value).every(([name, one]) => given[name]?.includes(one) ?? false);
}

/** The texts of a list; undefined where it is something else. */
export function textsIn({ value }: Value): readonly string[] | undefined {
  return Array.isArray(value) && value.every((one) => typeof one === 'string') ? value : undefined;
}

/** Whether an entry of an allowlist is one of these tools, or stands for it by its namespace. */
export function admits({ value }: Value, tools: readonly string[]): boolean {
  if (typeof value !== 'string') return false;
  return tools.some((tool) => value === tool || (value.endsWith('.*') && tool.startsWith(value.slice(0, -1))));
}

/** Whether a file lists a toolpack. */
export function lists({ root }: Found, toolpack: string): boolean {
  const listed = nodeAt(root, ['tools', 'toolpacks']);
  return itemsOf(listed).some((entry) => textOf(entry) === toolpack);
}

/** Whether a file lists toolpacks of directories. */
export function listsLocalToolpacks({ root }: Found): boolean {
  return itemsOf(nodeAt(root, ['tools', 'toolpacks'])).some((entry) => childOf(entry, 'path') !== undefined);
}

/** A name as an id: lower case, with hyphens for everything that `others` finds; empty where nothing is left. */
export function asId(name: string, others: RegExp): string {
  return name
    .toLowerCase()
    .replaceAll(others, '-')
    .replaceAll(/^[-_]+|-+$/g, '')
    .slice(0, 63);
}
