// What the ToolHost and the process of a controller module tell each other, a line of JSON each. The process imports nothing
// but this and Node.

/** What a process does: one call. */
export interface ControllerOrder {
  /** The module's path. */
  readonly module: string;
  readonly tool: string;
  readonly input: unknown;
  readonly project: string;
  readonly agent: unknown;
  readonly activationId: string;
  readonly toolpackId: string;
  /** Where the toolpack keeps files of this project. */
  readonly root: string;
}

/** What a module asks of its project. */
export const controllerAsks = ['config', 'listAgents', 'sendMessage', 'recordSignal'] as const;
export type ControllerAsk = (typeof controllerAsks)[number];

export type FromController =
  | { readonly ask: ControllerAsk; readonly value: unknown }
  | { readonly answer: unknown }
  | { readonly failed: string }
  | { readonly invalid: string };

/** The reply to what was asked. */
export type ToController = { readonly value: unknown } | { readonly error: { code?: string; message: string } };
