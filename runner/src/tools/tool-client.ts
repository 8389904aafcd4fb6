import type { Problem } from '@suzumio/protocol/problem';
import { type RunnerTurnInput, type ToolResponse, toolResponse } from '@suzumio/protocol/runner';
import type { DoorClient } from '../door/door-client.js';
import { TurnFailure } from '../turn-failure.js';
import { callTool } from './call-tool.js';
import { jsonOf, problemOf } from './tool-answer.js';

/** A call's result: an answer, or the reason why it was refused. */
export type ToolResult = { readonly response: ToolResponse } | { readonly problem: Problem };

/** Calls tools. `step` identifies the call in its turn: a repeated call gets the recorded result. */
export interface ToolCaller {
  call(tool: string, input: unknown, step: string): Promise<ToolResult>;
}

/** Calls tools through the door, in the name of one turn. */
export function createToolClient(door: DoorClient, turnInput: RunnerTurnInput): ToolCaller {
  const site = { door, authorization: `Bearer ${turnInput.token}`, workspace: turnInput.workspace };
  const caller = { project: turnInput.project, agent: turnInput.agent.id, turn: turnInput.turn.id };
  return {
    async call(tool, input, step) {
      const answer = await callTool(site, { ...caller, tool, input, step });
      if (answer.status >= 300) return { problem: problemOf(answer) };
      const response = toolResponse.safeParse(jsonOf(answer));
      if (!response.success) throw new TurnFailure(`the answer to ${tool} is not a tool's answer`);
      return { response: response.data };
    },
  };
}
