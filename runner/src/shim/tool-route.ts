import type { IncomingMessage } from 'node:http';
import { maxToolBodyBytes } from '@suzumio/shared/protocol/door';
import { toolRequest } from '@suzumio/shared/protocol/runner';
import type { DoorClient } from '../door/door-client.js';
import type { DoorAnswer } from '../door/exchange.js';
import { needsFile, publishFile } from '../tools/publish-file.js';
import { localProblem, problemOf } from '../tools/tool-answer.js';
import { withReason } from '../tools/tool-client.js';
import { exitCodes, TurnFailure } from '../turn-failure.js';

/**
 * Answers a foreign runner's `POST /tool`. What its runner leaves to us: the place of a call that names no step (its
 * number, so that it may be sent again through the door), and the content of a file that it publishes.
 */
export class ToolRoute {
  #calls = 0;
  #doorWasAway = false;

  constructor(
    private readonly door: DoorClient,
    private readonly workspace: string,
  ) {}

  /** Whether a call was given up because the door did not answer. */
  get doorWasAway(): boolean {
    return this.#doorWasAway;
  }

  async answer(incoming: IncomingMessage): Promise<DoorAnswer> {
    const body = await bodyOf(incoming);
    if (body === undefined) return refusal(413, 'body-too-large', `a tool call has at most ${maxToolBodyBytes} bytes`);
    const request = toolRequest.safeParse(parsed(body));
    if (!request.success) return refusal(400, 'invalid-request', 'expected {project, agent, turn, tool, input}');
    this.#calls += 1;
    const { step = `seq.${this.#calls}`, ...call } = request.data;
    const authorization = incoming.headers.authorization ?? '';
    try {
      const { input, reason } = needsFile(call.tool, call.input)
        ? await publishFile(this.door, authorization, this.workspace, call.input)
        : { input: call.input };
      const answer = await this.door.send({
        method: 'POST',
        path: '/tool',
        headers: { authorization, 'content-type': 'application/json' },
        body: () => Buffer.from(JSON.stringify({ ...call, input, step })),
      });
      return answer.status < 300 || reason === undefined ? answer : asAnswer(withReason(problemOf(answer), reason));
    } catch (error) {
      if (error instanceof TurnFailure && error.exitCode === exitCodes.doorAway) {
        this.#doorWasAway = true;
        return refusal(503, 'door-away', error.message);
      }
      throw error;
    }
  }
}

/** An answer that says why there is no better one. */
export function refusal(status: number, code: string, detail: string): DoorAnswer {
  return asAnswer(localProblem(status, code, detail));
}

function asAnswer(problem: ReturnType<typeof localProblem>): DoorAnswer {
  return {
    status: problem.status,
    contentType: 'application/problem+json',
    body: Buffer.from(JSON.stringify(problem)),
  };
}

async function bodyOf(incoming: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= maxToolBodyBytes) chunks.push(chunk);
  }
  return size <= maxToolBodyBytes ? Buffer.concat(chunks) : undefined;
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}
