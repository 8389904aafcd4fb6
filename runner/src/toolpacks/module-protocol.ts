import type { PackAnswer } from '@suzumio/protocol/toolpacks/answer';

// What a turn's runner and the process of a toolpack's runner module tell each other, a line of JSON each.

/** What a module learns of its turn. */
export interface ModuleFacts {
  readonly project: string;
  readonly agentId: string;
  readonly activationId: string;
  readonly workspace: string;
  readonly toolpackId: string;
}

export type ToModule =
  | { readonly load: { readonly module: string; readonly facts: ModuleFacts } }
  | { readonly call: number; readonly tool: string; readonly input: unknown }
  | { readonly told: number; readonly answer: PackAnswer | { readonly error: ModuleFault } };

export type FromModule =
  | { readonly ask: number; readonly call: number; readonly what: unknown }
  | { readonly done: number; readonly answer: PackAnswer | { readonly error: ModuleFault } }
  | { readonly broken: string };

/** How a call failed. */
export interface ModuleFault {
  /** A stable name, where it has one. */
  readonly code?: string | undefined;
  readonly message: string;
}
