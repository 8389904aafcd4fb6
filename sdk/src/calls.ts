import { type Call, callOf } from '@suzumio/contract/client/calls';
import { allOperations } from '@suzumio/contract/operations/operations';

/** How each operation is asked for. The bundle has this as plain data: `scripts/bundle-sdk.mjs`. */
export const calls: Readonly<Record<string, Call>> = Object.fromEntries(
  allOperations.map((operation) => [operation.id, callOf(operation)]),
);
