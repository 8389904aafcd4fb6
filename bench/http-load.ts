import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';

/** Where messages are posted, or events followed, and by whom. */
export interface HttpTarget {
  url: string;
  headers?: Readonly<Record<string, string>>;
}

/** Requests over so many connections, which are kept. */
export class HttpLoad {
  readonly #agent: Agent;
  readonly #connections: number;

  constructor(connections: number) {
    this.#connections = connections;
    this.#agent = new Agent({ keepAlive: true, maxSockets: connections });
  }

  /** Posts `count` bodies, always one on each connection, and returns how many were accepted in a second. */
  async burst(target: HttpTarget, count: number, body: unknown): Promise<number> {
    const text = JSON.stringify(body);
    let left = count;
    const begunAt = performance.now();
    await Promise.all(
      Array.from({ length: this.#connections }, async () => {
        while (left-- > 0) await this.#post(target, text);
      }),
    );
    return (count * 1000) / (performance.now() - begunAt);
  }

  close(): void {
    this.#agent.destroy();
  }

  async #post({ url, headers }: HttpTarget, body: string): Promise<void> {
    const sent = request(url, {
      method: 'POST',
      agent: this.#agent,
      headers: { ...headers, 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
    });
    sent.end(body);
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    const answer = await text(response);
    if (response.statusCode !== 201) throw new Error(`a message was answered ${response.statusCode}: ${answer}`);
  }
}

/** Followers of one stream of events; each has a connection of its own. */
export class Followers {
  readonly #streams: { response: IncomingMessage; close: () => void }[] = [];
  #onEvent: (data: string) => void = () => undefined;

  static async connect(target: HttpTarget, count: number): Promise<Followers> {
    const followers = new Followers();
    for (let number = 0; number < count; number += 1) await followers.#connect(target);
    return followers;
  }

  /** @param onEvent gets the data of each event, once for each follower */
  listen(onEvent: (data: string) => void): void {
    this.#onEvent = onEvent;
  }

  close(): void {
    for (const { close } of this.#streams) close();
  }

  async #connect({ url, headers }: HttpTarget): Promise<void> {
    const sent = request(url, { agent: false, headers: { ...headers, accept: 'text/event-stream' } });
    sent.end();
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    if (response.statusCode !== 200) throw new Error(`a follower was answered ${response.statusCode}`);
    let rest = '';
    response.setEncoding('utf8').on('data', (piece: string) => {
      const lines = (rest + piece).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) if (line.startsWith('data: ')) this.#onEvent(line.slice(6));
    });
    // Ended by us.
    response.on('error', () => undefined);
    this.#streams.push({ response, close: () => sent.destroy() });
  }
}
