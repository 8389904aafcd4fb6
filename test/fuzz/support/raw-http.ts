import { connect, type NetConnectOpts } from 'node:net';

/** One answer as it stood on the wire. */
export interface RawAnswer {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Buffer;
}

export interface Conversation {
  /** The whole answers, interim ones left out. */
  readonly answers: readonly RawAnswer[];
  /** What came besides them. */
  readonly rest: Buffer;
  /** Whether it was over in time: the other side closed, or all was said that was waited for. */
  readonly over: boolean;
}

export interface Talk {
  /** Sent one after the other; each byte is a character. */
  readonly chunks: readonly string[];
  /** How the answer to a request without a body, `HEAD`, is read. */
  readonly head?: boolean;
  /** Waits for so many answers, and does not care whether the connection is closed then; without, for the close. */
  readonly answers?: number;
  /** An answer of this kind goes on for ever: its head is enough. */
  readonly endless?: (head: RawAnswer) => boolean;
  readonly withinMs: number;
}

/** Says something on a connection of its own and listens to what comes back. */
export function talk(
  address: NetConnectOpts,
  { chunks, head = false, answers: wanted, endless, withinMs }: Talk,
): Promise<Conversation> {
  return new Promise((resolve) => {
    let received: Buffer = Buffer.alloc(0);
    const socket = connect(address);
    const timer = setTimeout(() => finish(false), withinMs);
    const look = (closed: boolean): { answers: RawAnswer[]; rest: Buffer; endless: boolean } => {
      const answers: RawAnswer[] = [];
      let rest = received;
      for (;;) {
        const read = readAnswer(rest, head, closed);
        if (!read) return { answers, rest, endless: false };
        if (endless?.(read.answer)) return { answers: [...answers, read.answer], rest: Buffer.alloc(0), endless: true };
        if (read.length === undefined) return { answers, rest, endless: false };
        if (read.answer.status >= 200) answers.push(read.answer);
        rest = rest.subarray(read.length);
      }
    };
    const finish = (over: boolean): void => {
      clearTimeout(timer);
      socket.destroy();
      const { answers, rest } = look(true);
      resolve({ answers, rest, over });
    };
    socket.on('data', (bytes: Buffer) => {
      received = Buffer.concat([received, bytes]);
      const seen = look(false);
      if (seen.endless || (wanted !== undefined && seen.answers.length >= wanted)) finish(true);
    });
    // A server that has said what it thinks of a request may cut the rest off.
    socket.once('error', () => finish(true));
    socket.once('close', () => finish(true));
    socket.setNoDelay(true);
    for (const chunk of chunks) socket.write(chunk, 'latin1');
    if (wanted === undefined) socket.end();
  });
}

/** The first answer in some bytes; without a length where it has not arrived whole. */
function readAnswer(bytes: Buffer, head: boolean, closed: boolean): { answer: RawAnswer; length?: number } | undefined {
  const end = bytes.indexOf('\r\n\r\n');
  if (end === -1) return undefined;
  const [line = '', ...lines] = bytes.subarray(0, end).toString('latin1').split('\r\n');
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(line)?.[1] ?? Number.NaN);
  const headers = new Map(
    lines.map((one): [string, string] => {
      const colon = one.indexOf(':');
      return [one.slice(0, colon).toLowerCase(), one.slice(colon + 1).trim()];
    }),
  );
  const start = end + 4;
  const of = (body: Buffer, length: number) => ({ answer: { status, headers, body }, length });
  if (Number.isNaN(status)) return undefined;
  if (head || status < 200 || status === 204 || status === 304) return of(Buffer.alloc(0), start);
  const declared = headers.get('content-length');
  if (declared !== undefined) {
    const length = start + Number(declared);
    const answer = { status, headers, body: bytes.subarray(start, length) };
    return bytes.length < length ? { answer } : { answer, length };
  }
  if (headers.get('transfer-encoding') === 'chunked') {
    const read = unchunked(bytes, start);
    return read ? of(read.body, read.end) : { answer: { status, headers, body: Buffer.alloc(0) } };
  }
  const body = bytes.subarray(start);
  return closed ? of(body, bytes.length) : { answer: { status, headers, body } };
}

function unchunked(bytes: Buffer, start: number): { body: Buffer; end: number } | undefined {
  const parts: Buffer[] = [];
  for (let at = start; ;) {
    const line = bytes.indexOf('\r\n', at);
    if (line === -1) return undefined;
    const size = Number.parseInt(bytes.subarray(at, line).toString('latin1'), 16);
    const end = line + 2 + size + 2;
    if (Number.isNaN(size) || bytes.length < end) return undefined;
    parts.push(bytes.subarray(line + 2, line + 2 + size));
    at = end;
    if (size === 0) return { body: Buffer.concat(parts), end };
  }
}
