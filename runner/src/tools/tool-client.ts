import type { Problem } from '@suzumio/shared/protocol/problem';
import {
  type RunnerTurnInput,
  type ToolRequest,
  type ToolResponse,
  toolResponse,
} from '@suzumio/shared/protocol/runner';
import type { DoorClient } from '../door/door-client.js';
import { TurnFailure } from '../turn-failure.js';
import { needsFile, publishFile } from './publish-file.js';
import { jsonOf, problemOf } from './tool-answer.js';

/** What a call came to: an answer, or the reason why it was refused. */
export type ToolResult = { readonly response: ToolResponse } | { readonly problem: Problem };

/** Calls tools. `step` is the call's place in its turn: a repeated call gets the recorded result. */
export interface ToolCaller {
  call(tool: string, input: unknown, step: string): Promise<ToolResult>;
}

/** Calls tools through the door, in the name of one turn. */
export function createToolClient(door: DoorClient, turnInput: RunnerTurnInput): ToolCaller {
  const authorization = `Bearer ${turnInput.token}`;
  return {
    async call(tool, input, step) {
      const published = needsFile(tool, input)
        ? await publishFile(door, authorization, turnInput.workspace, input)
        : { input };
      const request: ToolRequest = {
        project: turnInput.project,
        agent: turnInput.agent.id,
        turn: turnInput.turn.id,
        tool,
        input: published.input,
        step,
      };
      const answer = await door.send({
        method: 'POST',
        path: '/tool',
        headers: { authorization, 'content-type': 'application/json' },
        body: () => Buffer.from(JSON.stringify(request)),
      });
      if (answer.status >= 300) return { problem: withReason(problemOf(answer), published.reason) };
      const response = toolResponse.safeParse(jsonOf(answer));
      if (!response.success) throw new TurnFailure(`the answer to ${tool} is not a tool's answer`);
      return { response: response.data };
    },
  };
}

/** The problem, with what only this side of the door knows of it. */
export function withReason(problem: Problem, reason: string | undefined): Problem {
  return reason === undefined ? problem : { ...problem, detail: `${problem.detail} (${reason})` };
}
