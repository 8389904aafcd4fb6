import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { text } from 'node:stream/consumers';
import type { Reply } from './reply.js';
import { streamedResponse, wholeResponse } from './responses-wire.js';

export type { Reply } from './reply.js';

/** A request as a provider gets it. */
export interface ModelRequest {
  path: string;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: ModelRequestBody;
  atMs: number;
}

export interface ModelRequestBody {
  model: string;
  stream?: boolean;
  messages: { role: string; content?: unknown; tool_calls?: unknown[]; tool_call_id?: string }[];
  tools?: { function: { name: string } }[];
  [field: string]: unknown;
}

/** What a provider does that has no answer, or a strange one. */
export type Behaviour =
  | Reply
  | { status: number; headers?: Record<string, string>; body?: string | Buffer | object }
  /** Whole lines of a stream as they are, or a pause between them in milliseconds; `cut` breaks the connection then. */
  | { lines: (string | number)[]; cut?: boolean }
  | { silent: true }
  | { reset: true };

export type Script = (request: ModelRequest, number: number) => Behaviour | Promise<Behaviour>;

/** A server on this machine that speaks Chat Completions, and Responses where it is asked there, by a script. */
export interface ModelServer {
  readonly baseURL: string;
  /** Every request that arrived, answered or not. */
  readonly requests: readonly ModelRequest[];
  answers: Script;
  close(): Promise<void>;
}

export async function startModelServer(answers: Script): Promise<ModelServer> {
  const requests: ModelRequest[] = [];
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      response.destroy(error instanceof Error ? error : new Error(String(error)));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const handle: ModelServer = {
    baseURL: `http://127.0.0.1:${port}/v1`,
    requests,
    answers,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = JSON.parse(await text(request)) as ModelRequestBody;
    const seen = { path: request.url ?? '', headers: request.headers, body, atMs: Date.now() };
    requests.push(seen);
    const behaviour = await handle.answers(seen, requests.length);
    if ('silent' in behaviour) return;
    if ('reset' in behaviour) request.socket.resetAndDestroy();
    else if ('status' in behaviour) {
      const { status, headers, body: said = '' } = behaviour;
      response
        .writeHead(status, headers)
        .end(typeof said === 'string' || Buffer.isBuffer(said) ? said : JSON.stringify(said));
    } else if ('lines' in behaviour) await sendLines(response, behaviour);
    else await sendReply(response, behaviour, { streamed: body.stream === true, ...wireOf(seen.path) });
  }
  return handle;
}

async function sendLines(response: ServerResponse, { lines, cut }: { lines: (string | number)[]; cut?: boolean }) {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.flushHeaders();
  for (const line of lines) {
    if (response.closed) return;
    if (typeof line === 'number') await pause(line, response);
    else response.write(`${line}\n`);
  }
  if (cut === true) response.socket?.destroySoon();
  else response.end();
}

/** A pause that ends with the connection: nobody waits for the rest. */
async function pause(ms: number, response: ServerResponse): Promise<void> {
  const gone = new AbortController();
  const leave = () => gone.abort();
  response.once('close', leave);
  await sleep(ms, undefined, { signal: gone.signal }).catch(() => undefined);
  response.off('close', leave);
}

interface Wire {
  streamed: boolean;
  whole: (reply: Reply) => object;
  lines: (reply: Reply) => string[];
}

function wireOf(path: string): Omit<Wire, 'streamed'> {
  return path.endsWith('/responses')
    ? { whole: wholeResponse, lines: streamedResponse }
    : { whole: wholeAnswer, lines: streamedAnswer };
}

async function sendReply(response: ServerResponse, reply: Reply, { streamed, whole, lines }: Wire): Promise<void> {
  if (reply.delayMs !== undefined) await pause(reply.delayMs, response);
  if (!streamed) {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(whole(reply)));
    return;
  }
  await sendLines(response, { lines: lines(reply) });
}

/** A whole answer in the wire format. */
export function wholeAnswer(reply: Reply): object {
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    model: 'scripted-1',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: reply.text ?? null,
          ...(reply.calls ? { tool_calls: reply.calls.map(wireCall) } : {}),
        },
        finish_reason: finishOf(reply),
      },
    ],
    ...usageOf(reply),
  };
}

/** The same as lines of a stream, in small pieces. */
export function streamedAnswer(reply: Reply): string[] {
  const chunk = (delta: object, finish: string | null = null) =>
    event({ choices: [{ index: 0, delta, finish_reason: finish }] });
  const pieces = (reply.text ?? '').match(/[^]{1,7}/gu) ?? [];
  return [
    chunk({ role: 'assistant', content: '' }),
    ...pieces.map((content) => chunk({ content })),
    ...(reply.calls ?? []).flatMap((call, index) => {
      const { id, function: called } = wireCall(call, index);
      const parts = called.arguments.match(/[^]{1,9}/gu) ?? [];
      return [
        chunk({ tool_calls: [{ index, id, type: 'function', function: { name: called.name, arguments: '' } }] }),
        ...parts.map((part) => chunk({ tool_calls: [{ index, function: { arguments: part } }] })),
      ];
    }),
    chunk({}, finishOf(reply)),
    ...(reply.usage === null ? [] : [event({ choices: [], ...usageOf(reply) })]),
    'data: [DONE]\n',
  ].flat();
}

/** One event of a stream; the empty line ends it. */
export function event(piece: object): string {
  return `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', model: 'scripted-1', ...piece })}\n`;
}

function wireCall({ id, name, arguments: given }: NonNullable<Reply['calls']>[number], index: number) {
  const written = typeof given === 'string' ? given : JSON.stringify(given);
  return { id: id ?? `call_${index}`, type: 'function', function: { name, arguments: written } };
}

function finishOf({ finish, calls }: Reply): string | null {
  return finish === undefined ? (calls ? 'tool_calls' : 'stop') : finish;
}

function usageOf({ usage }: Reply): object {
  if (usage === null) return {};
  const { input, output, ...more } = usage ?? { input: 10, output: 5 };
  return { usage: { prompt_tokens: input, completion_tokens: output, total_tokens: input + output, ...more } };
}
