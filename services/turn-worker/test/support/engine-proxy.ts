import { rm } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';

/** Stands between a worker and the Docker engine, and can be away. */
export class EngineProxy {
  readonly #sockets = new Set<Socket>();
  #server: Server | undefined;

  constructor(
    readonly path: string,
    private readonly engine = '/var/run/docker.sock',
  ) {}

  async open(): Promise<void> {
    const server = createServer((socket) => {
      const onward = connect(this.engine);
      for (const [from, to] of [
        [socket, onward],
        [onward, socket],
      ] as const) {
        this.#sockets.add(from);
        from.pipe(to);
        from
          .on('error', () => to.destroy())
          .on('close', () => {
            this.#sockets.delete(from);
            to.destroy();
          });
      }
    });
    await new Promise<void>((resolve) => server.listen(this.path, resolve));
    this.#server = server;
  }

  /** Cuts every connection; new ones are taken. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Cuts every connection, and refuses new ones. */
  async close(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (server) {
      const closed = new Promise((resolve) => server.close(resolve));
      this.cut();
      await closed;
    }
    await rm(this.path, { force: true });
  }
}
