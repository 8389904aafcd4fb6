import type { IncomingMessage } from 'node:http';
import { maxToolBodyBytes } from '@suzumio/protocol/door';
import { toolRequest } from '@suzumio/protocol/runner';
import type { DoorAnswer, DoorClient } from '../door/door-client.js';
import { callTool, type CallSite } from '../tools/call-tool.js';
import { localProblem, problemAnswer } from '../tools/tool-answer.js';
import { exitCodes, TurnFailure } from '../turn-failure.js';

/**
 * Answers a foreign runner's `POST /tool`. Adds what its runner does not do: a step for each call (its number, so that
 * it can be retried through the door), and the workspace's side of publishing and reading artifacts.
 */
export class ToolRoute {
  #calls = 0;
  #doorWasAway = false;

  constructor(
    private readonly door: DoorClient,
    private readonly site: Pick<CallSite, 'workspace' | 'tools' | 'own' | 'repository'>,
  ) {}

  /** Whether a call failed because the door did not answer. */
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
      return await callTool({ door: this.door, authorization, ...this.site }, { ...call, step });
    } catch (error) {
      if (error instanceof TurnFailure && error.exitCode === exitCodes.doorAway) {
        this.#doorWasAway = true;
        return refusal(503, 'door-away', error.message);
      }
      throw error;
    }
  }
}

/** An answer with a problem document. */
export function refusal(status: number, code: string, detail: string): DoorAnswer {
  return problemAnswer(localProblem(status, code, detail));
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
