import { type ConfigNode, type ConfigPath, type PathSegment, toPlain } from './config-node.js';
import type { Found } from './published-key.js';

/**
 * Everything in a tree that a pattern stands for; entries of lists last first, so that they can be removed in turn.
 *
 * @param offered the tools of its local toolpacks, where these were read
 */
export function findKeys(root: ConfigNode, pattern: string, offered?: readonly string[]): Found[] {
  let found: { path: ConfigPath; node: ConfigNode }[] = [{ path: [], node: root }];
  for (const name of segmentsOf(pattern)) {
    found = found.flatMap(({ path, node }) =>
      childrenOf(node, name).map(([segment, child]) => ({ path: [...path, segment], node: child })),
    );
  }
  return found
    .filter(({ node }) => node.kind !== 'broken')
    .map(({ path, node }) => ({ path, node, value: toPlain(node), root, offered }))
    .reverse();
}

function childrenOf(node: ConfigNode, name: string): [PathSegment, ConfigNode][] {
  if (name === '[]') return node.kind === 'list' ? node.items.map((item, index) => [index, item]) : [];
  if (node.kind !== 'map') return [];
  if (name === '*') return [...node.entries].map(([key, { value }]) => [key, value]);
  const value = node.entries.get(name)?.value;
  return value === undefined ? [] : [[name, value]];
}

/** `a.b[].c` as `a`, `b`, `[]`, `c`. */
function segmentsOf(pattern: string): string[] {
  return pattern.split(/\.|(?=\[\])/).filter((name) => name !== '');
}

/** Whether a path is what a pattern stands for, or below it. What is in an `extends` has the path that it is merged into. */
export function isWithin(path: ConfigPath, pattern: string): boolean {
  const own = withoutExtends(path);
  return segmentsOf(pattern).every((name, index) => {
    const segment = own[index];
    if (segment === undefined) return false;
    return name === '*' ? typeof segment === 'string' : name === '[]' ? typeof segment === 'number' : name === segment;
  });
}

function withoutExtends(path: ConfigPath): ConfigPath {
  const own: PathSegment[] = [];
  for (const [index, segment] of path.entries()) {
    if (segment === 'extends') continue;
    if (typeof segment === 'number' && path[index - 1] === 'extends') continue;
    own.push(segment);
  }
  return own;
}
