import { type Problem, problem } from '@suzumio/protocol/problem';
import type { ToolResponse } from '@suzumio/protocol/runner';
import type { DoorAnswer } from '../door/door-client.js';

/** A call's result: an answer, or the reason why it was refused. */
export type ToolResult = { readonly response: ToolResponse } | { readonly problem: Problem };

/** The JSON of an answer; `undefined` where it is none. */
export function jsonOf(answer: DoorAnswer): unknown {
  return jsonIn(answer.body);
}

/** The JSON in some bytes; `undefined` where it is none. */
export function jsonIn(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}

/** The problem document of a refusal, or one made for an answer without. */
export function problemOf(answer: DoorAnswer): Problem {
  const parsed = problem.safeParse(jsonOf(answer));
  return parsed.success
    ? parsed.data
    : localProblem(answer.status, 'answer-invalid', `the door answered ${answer.status} without a problem document`);
}

/** An answer that is a problem. */
export function problemAnswer(found: Problem): DoorAnswer {
  return {
    status: found.status,
    contentType: 'application/problem+json',
    body: Buffer.from(JSON.stringify(found)),
  };
}

/** A problem found on this side of the door. */
export function localProblem(status: number, code: string, detail: string): Problem {
  return { type: `urn:suzumio:problem:${code}`, title: code.replaceAll('-', ' '), status, code, detail };
}
