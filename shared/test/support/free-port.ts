import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below the ports that systems give to outgoing connections: one of those might take a free port before its server does. */
const first = 12_000;
const end = 32_000;

/** A port of this machine on which nobody listens, for a server that is to be started. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(first, end);
    const server = createServer();
    const listening = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true));
    });
    if (!listening) continue;
    server.close();
    await once(server, 'close');
    return port;
  }
}
