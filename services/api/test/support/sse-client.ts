import { type ClientRequest, type IncomingMessage, request as httpRequest } from 'node:http';
import { once } from 'node:events';

export interface StreamedEvent {
  id: string;
  type: string;
  data: Record<string, unknown>;
}

/** An event stream as it arrives over one connection. */
export interface EventStream {
  response: IncomingMessage;
  /** The next event; undefined once the stream has ended. */
  next(): Promise<StreamedEvent | undefined>;
  /** Comments that have arrived. */
  comments(): number;
  /** Cuts the connection. */
  cut(): void;
}

/** Opens a stream; what is read of it is read only when `next` asks, so that a client can be slow. */
export async function openStream(url: string, headers: Record<string, string>): Promise<EventStream> {
  const request: ClientRequest = httpRequest(url, { headers, agent: false });
  request.end();
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const chunks = response.setEncoding('utf8')[Symbol.asyncIterator]() as AsyncIterator<string>;
  let buffered = '';
  let comments = 0;

  async function next(): Promise<StreamedEvent | undefined> {
    for (;;) {
      const end = buffered.indexOf('\n\n');
      if (end === -1) {
        const chunk = await chunks.next().catch(() => undefined);
        if (!chunk || chunk.done === true) return undefined;
        buffered += chunk.value;
        continue;
      }
      const block = buffered.slice(0, end);
      buffered = buffered.slice(end + 2);
      if (block.startsWith(':')) comments += 1;
      const event = parseBlock(block);
      if (event) return event;
    }
  }

  return { response, next, comments: () => comments, cut: () => void request.destroy() };
}

function parseBlock(block: string): StreamedEvent | undefined {
  const fields = new Map(
    block.split('\n').map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon), line.slice(colon + 1).trim()];
    }),
  );
  const data = fields.get('data');
  if (data === undefined) return undefined;
  return {
    id: fields.get('id') ?? '',
    type: fields.get('event') ?? '',
    data: JSON.parse(data) as Record<string, unknown>,
  };
}
