import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';

/** A request as it came to the tool host. */
export interface Received {
  readonly method: string;
  readonly url: string;
  readonly authorization: string | undefined;
  readonly body: Buffer;
}

/** What a tool answers: an output, or a problem where there is a `code`. */
export type ToolAnswer =
  | { output: unknown; endTurn?: boolean; metadata?: Record<string, unknown> }
  | { code: string; detail: string; status?: number };

/** A real HTTP server with the ToolHost's routes for runners; it records what it gets. */
export interface FakeToolHost {
  readonly server: Server;
  readonly received: Received[];
  readonly content: Map<string, Buffer>;
  /** The tool calls, parsed. */
  calls(): Record<string, unknown>[];
  /** Gets each request first; true where it has dealt with it. */
  intercept: (incoming: IncomingMessage, response: ServerResponse) => boolean;
}

/** A tool host whose tools answer as `tool` says; by default with the name of the tool. */
export function createToolHost(
  tool: (request: Record<string, unknown>) => ToolAnswer = ({ tool: name }) => ({ output: { called: name } }),
): FakeToolHost {
  const received: Received[] = [];
  const content = new Map<string, Buffer>();
  const host: FakeToolHost = {
    received,
    content,
    calls: () =>
      received
        .filter(({ url }) => url === '/tool')
        .map(({ body }) => JSON.parse(body.toString()) as Record<string, unknown>),
    intercept: () => false,
    server: createServer((incoming, response) => {
      if (!host.intercept(incoming, response)) void handle(incoming, response).catch(() => response.destroy());
    }),
  };

  async function handle(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(incoming);
    const { method = '', url = '' } = incoming;
    received.push({ method, url, authorization: incoming.headers.authorization, body });
    if (url.startsWith('/content/') && method === 'PUT') {
      const matches = createHash('sha256').update(body).digest('hex') === url.slice('/content/'.length);
      if (matches) content.set(url.slice('/content/'.length), body);
      response.writeHead(matches ? 204 : 422).end();
      return;
    }
    if (url.startsWith('/content/') && method === 'GET') {
      const found = content.get(url.slice('/content/'.length));
      if (found) response.writeHead(200, { 'content-length': found.length }).end(found);
      else
        refuse(response, { code: 'not-found', detail: 'Nothing with this content has been published.', status: 404 });
      return;
    }
    const answer = tool(JSON.parse(body.toString()) as Record<string, unknown>);
    if ('code' in answer) {
      refuse(response, answer);
      return;
    }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  }
  return host;
}

function refuse(response: ServerResponse, problem: Extract<ToolAnswer, { code: string }>): void {
  const { code, detail, status = 422 } = problem;
  response.writeHead(status, { 'content-type': 'application/problem+json' });
  response.end(JSON.stringify({ type: 'about:blank', title: code, status, code, detail }));
}
