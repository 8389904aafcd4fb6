import { allOperations } from '@suzumio/contract/operations/operations';
import type { Operation } from '@suzumio/contract/operations/operation';

/** The operations of a path, and the values of its parameters. */
export interface Located {
  operations: Operation[];
  parts: Readonly<Record<string, string>>;
}

const patterns = allOperations.map((operation) => ({ operation, pattern: pathPattern(operation.path) }));

/** What a route's path, as Express writes it, matches; with a group for each parameter. */
export function pathPattern(path: string): RegExp {
  return new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/:(\w+)/g, '(?<$1>[^/]+)')}/?$`, 'i');
}

/** The operation of a request; undefined where the contract has none. */
export function operationFor(method: string, path: string): Operation | undefined {
  const asked = method === 'HEAD' ? 'get' : method.toLowerCase();
  return patterns.find(({ operation, pattern }) => operation.method === asked && pattern.test(path))?.operation;
}

/** The contract's operations at a path, of all methods; paths are read as Express does. */
export function operationsAt(path: string): Located {
  const matches = patterns.flatMap(({ operation, pattern }) => {
    const match = pattern.exec(path);
    return match ? [{ operation, parts: match.groups ?? {} }] : [];
  });
  return { operations: matches.map(({ operation }) => operation), parts: matches[0]?.parts ?? {} };
}
