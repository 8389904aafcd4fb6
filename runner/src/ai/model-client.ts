import { ReadableStream } from 'node:stream/web';
import OpenAI, { APIError } from 'openai';
import {
  type ChatMessage,
  type ChatPurpose,
  purposeHeader,
  type ReadAnswer,
  type ReceivedAnswer,
  stepHeader,
} from '@suzumio/protocol/model-chat';
import type { HttpRequest } from '@suzumio/protocol/http-client';
import { HttpUnavailable } from '@suzumio/protocol/http-failures';
import { retry } from '@suzumio/protocol/retry';
import { type Problem, problem } from '@suzumio/protocol/problem';
import type { ToolDefinition } from '@suzumio/protocol/runner';
import { functionName, inFunctionNames } from '@suzumio/protocol/conversation';
import { defaultPatienceMs } from '../door/door-client.js';
import type { Connector } from '../door/connector.js';
import { doorHttp } from '../door/exchange.js';
import { exitCodes, messageOf, TurnFailure } from '../turn-failure.js';
import { readAnswer } from './read-answer.js';

/** A model call at one step of a turn. */
export interface Question {
  step: string;
  purpose: ChatPurpose;
  messages: readonly ChatMessage[];
  tools: readonly ToolDefinition[];
  /** What was made of the newest answer, where that is kept. */
  read?: ReadAnswer | undefined;
}

/** An answer, or the final refusal of this step. */
export type ModelResult = { readonly answer: ReceivedAnswer } | { readonly problem: Problem };

/** Calls the turn's model. A repeated call gets the journaled answer. */
export interface ModelCaller {
  ask(question: Question): Promise<ModelResult>;
}

export interface ModelClientOptions {
  token: string;
  /** How long the door may fail continuously. */
  patienceMs?: number | undefined;
  /** The deadline of one answer. */
  timeoutMs: number;
  log: (line: string) => void;
  /** Receives the text of answers as it comes. */
  onText: (text: string) => void;
}

/** A client with the `openai` package, through the door. */
export function createModelClient(connector: Connector, options: ModelClientOptions): ModelCaller {
  const { token, patienceMs = defaultPatienceMs, timeoutMs, log, onText } = options;
  // The base URL does not matter: the door leads to one place.
  const client = new OpenAI({
    baseURL: 'http://door/v1',
    apiKey: token,
    fetch: doorFetch(connector),
    maxRetries: 0,
    timeout: timeoutMs,
    // The caller logs what goes wrong.
    logLevel: 'off',
  });
  return {
    async ask(question) {
      try {
        // An interrupted answer is in the journal, or will be: repeating the call costs nothing.
        const answer = await retry(() => answerTo(client, question, onText), {
          firstDelayMs: 100,
          longestDelayMs: 1_000,
          isRetryable: (error) => isLost(error) && problemOf(error) === undefined,
          patienceMs,
          onFailure: (error) =>
            log(`the model could not be asked (${messageOf(error)}); trying again for up to ${patienceMs} ms`),
        });
        return { answer };
      } catch (error) {
        const refused = problemOf(error);
        if (refused) return { problem: refused };
        if (!isLost(error)) throw error;
        throw new TurnFailure(`the door was away for ${patienceMs} ms: ${messageOf(error)}`, exitCodes.doorAway);
      }
    },
  };
}

async function answerTo(
  client: OpenAI,
  { step, purpose, messages, tools, read }: Question,
  onText: (text: string) => void,
): Promise<ReceivedAnswer> {
  const pieces = await client.chat.completions.create(
    {
      model: 'default',
      stream: true,
      // Both are the wire format; this project's type has fewer fields.
      messages: messages as unknown as OpenAI.ChatCompletionMessageParam[],
      ...(read === undefined ? {} : { suzumio: read }),
      ...(tools.length === 0
        ? {}
        : {
            tools: tools.map(({ name, description, inputSchema }) => ({
              type: 'function' as const,
              function: {
                name: functionName(name),
                // It may speak of other tools.
                description: inFunctionNames(description),
                parameters: JSON.parse(inFunctionNames(JSON.stringify(inputSchema))) as Record<string, unknown>,
              },
            })),
          }),
    },
    { headers: { [stepHeader]: step, [purposeHeader]: purpose } },
  );
  return readAnswer(pieces, onText);
}

/** Whether an answer was lost or no ToolHost answered; anything else is a defect, which retries do not fix. */
function isLost(error: unknown): boolean {
  return error instanceof HttpUnavailable || error instanceof APIError;
}

/** The ToolHost's refusal; undefined for a failure that may pass. */
function problemOf(error: unknown): Problem | undefined {
  if (!(error instanceof APIError)) return undefined;
  const status: unknown = error.status;
  if (typeof status !== 'number' || status >= 500 || status === 408) return undefined;
  const known = problem.safeParse((error as { error?: { problem?: unknown } }).error?.problem);
  if (known.success) return known.data;
  return {
    type: 'about:blank',
    title: 'refused',
    status,
    code: 'model-refused',
    detail: `The question was answered ${status}.`,
  };
}

/** `fetch` through the door, for a client that knows nothing of doors. Only what that client sends: paths and texts. */
function doorFetch(connector: Connector): typeof fetch {
  // The client interprets statuses itself.
  const http = doorHttp(connector, { isTransient: () => false });
  return async (target, init) => {
    const { pathname } = new URL(target instanceof Request ? target.url : target);
    const body = typeof init?.body === 'string' ? init.body : '';
    const answer = await http.ask({
      method: (init?.method ?? 'GET') as HttpRequest['method'],
      path: pathname,
      headers: Object.fromEntries(new Headers(init?.headers)),
      body: Buffer.from(body),
    });
    init?.signal?.addEventListener('abort', answer.discard);
    return new Response(ReadableStream.from(answer.body), {
      status: answer.status,
      headers: { 'content-type': answer.header('content-type') ?? '' },
    });
  };
}
