import { allOperations } from '@suzumio/contract/operations/operations';
import type { Operation } from '@suzumio/contract/operations/operation';

/** The operations of a path, and what stands in it where they have names. */
export interface Located {
  operations: Operation[];
  parts: Readonly<Record<string, string>>;
}

const patterns = allOperations.map((operation) => ({
  operation,
  pattern: new RegExp(`^${operation.path.replaceAll('.', '\\.').replaceAll(/:(\w+)/g, '(?<$1>[^/]+)')}/?$`, 'i'),
}));

/** What a request asks for; undefined where the contract has nothing like it. */
export function operationFor(method: string, path: string): Operation | undefined {
  const asked = method === 'HEAD' ? 'get' : method.toLowerCase();
  return patterns.find(({ operation, pattern }) => operation.method === asked && pattern.test(path))?.operation;
}

/** What the contract has at a path, by whatever method; as Express reads paths. */
export function operationsAt(path: string): Located {
  const matches = patterns.flatMap(({ operation, pattern }) => {
    const match = pattern.exec(path);
    return match ? [{ operation, parts: match.groups ?? {} }] : [];
  });
  return { operations: matches.map(({ operation }) => operation), parts: matches[0]?.parts ?? {} };
}
