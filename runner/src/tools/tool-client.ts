import { type RunnerTurnInput, toolResponse } from '@suzumio/protocol/runner';
import type { DoorClient } from '../door/door-client.js';
import { TurnFailure } from '../turn-failure.js';
import { callTool, type WriteInStep } from './call-tool.js';
import { ownArtifactsOf } from './publish-file.js';
import { jsonOf, problemOf, type ToolResult } from './tool-answer.js';

/** Calls tools. `step` identifies the call in its turn: a repeated call gets the recorded result. It is the same by its `unfilled` input, if it has one. */
export interface ToolCaller {
  call(tool: string, input: unknown, step: string, unfilled?: unknown): Promise<ToolResult>;
}

/** Calls tools through the door, in the name of one turn. Where there is a sandbox, writing into it is a step there. */
export function createToolClient(door: DoorClient, turnInput: RunnerTurnInput, writeInStep: WriteInStep): ToolCaller {
  const { token, workspace, tools, sandbox, repository } = turnInput;
  const site = {
    door,
    authorization: `Bearer ${token}`,
    workspace,
    tools,
    own: ownArtifactsOf(turnInput),
    repository,
    ...(sandbox ? { writeInStep } : {}),
  };
  const caller = { project: turnInput.project, agent: turnInput.agent.id, turn: turnInput.turn.id };
  return {
    async call(tool, input, step, unfilled) {
      const answer = await callTool(site, {
        ...caller,
        tool,
        input,
        step,
        ...(unfilled === undefined ? {} : { unfilled }),
      });
      if (answer.status >= 300) return { problem: problemOf(answer) };
      const response = toolResponse.safeParse(jsonOf(answer));
      if (!response.success) throw new TurnFailure(`the answer to ${tool} is not a tool's answer`);
      return { response: response.data };
    },
  };
}
