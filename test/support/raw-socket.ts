import { connect, type Socket } from 'node:net';

/** A connection on which a test writes what no HTTP client would. */
export interface RawSocket {
  write(text: string): void;
  /** Writes `text` again and again until the connection is closed. */
  repeat(text: string, everyMs: number): void;
  /** Everything that came until the other side closed the connection, in whatever way. */
  received(): Promise<string>;
  /** What came until now. */
  soFar(): string;
  close(): void;
}

export function rawSocket(url: string | number): RawSocket {
  const { hostname, port } = new URL(typeof url === 'number' ? `http://127.0.0.1:${url}` : url);
  const socket: Socket = connect(Number(port), hostname);
  let text = '';
  socket.setEncoding('utf8').on('data', (more: string) => (text += more));
  // A server that has cut the connection resets it when more arrives.
  socket.on('error', () => undefined);
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  return {
    write: (what) => void socket.write(what),
    repeat(what, everyMs) {
      const timer = setInterval(() => socket.write(what), everyMs);
      socket.once('close', () => clearInterval(timer));
    },
    async received() {
      await closed;
      return text;
    },
    soFar: () => text,
    close: () => void socket.destroy(),
  };
}
