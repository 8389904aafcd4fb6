import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below the ports that systems give to outgoing connections: one of those might take a free port before its server does. */
const first = 12_000;
const end = 32_000;

/**
 * Suites run side by side, and a port is free until its server is up, a second or more later.
 * So each of Jest's processes takes ports of a part of its own, and none twice. `npm test` runs Jest twice side by side.
 */
const parts = 16;
const portsOfPart = (end - first) / parts;
const { JEST_WORKER_ID = '0', SUZUMIO_TEST_HALF = 'lower' } = process.env;
const half = SUZUMIO_TEST_HALF === 'upper' ? parts / 2 : 0;
const firstOfPart = first + (half + (Number(JEST_WORKER_ID) % (parts / 2))) * portsOfPart;
const given = new Set<number>();

/** A port of this machine on which nobody listens, for a server that is to be started. */
export async function freePort(): Promise<number> {
  while (given.size < portsOfPart) {
    const port = firstOfPart + randomInt(portsOfPart);
    if (given.has(port)) continue;
    given.add(port);
    const server = createServer();
    const listening = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true));
    });
    if (!listening) continue;
    server.close();
    await once(server, 'close');
    return port;
  }
  throw new Error('each port of this process was given to a server');
}
