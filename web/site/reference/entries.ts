import type { Operation } from '@suzumio/contract/operations/operation';
import { allOperations } from '@suzumio/contract/operations/operations';
import type { DescribedOperation, Description } from './description.js';

/** An operation of the contract with what the OpenAPI document says of it. */
export interface Entry {
  operation: Operation;
  /** As OpenAPI writes it. */
  path: string;
  described: DescribedOperation;
}

/** All operations, in the order of the document. */
export function entriesOf(description: Description): Entry[] {
  const byId = new Map<string, Operation>(allOperations.map((operation) => [operation.id, operation]));
  return Object.entries(description.paths).flatMap(([path, methods]) =>
    Object.values(methods).flatMap((described) => {
      const operation = byId.get(described.operationId);
      return operation ? [{ operation, path, described }] : [];
    }),
  );
}
