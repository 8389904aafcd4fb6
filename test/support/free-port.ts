import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below the ports that systems give to outgoing connections: one of those might take a free port before its server does. */
const first = 12_000;
const end = 32_000;

/**
 * Suites run side by side, and a port is free until its server is up, a second or more later.
 * So each of Jest's processes takes ports of a part of its own, and none twice. `npm test` runs Jest four times side by side.
 */
const runs = 4;
const workers = 8;
const portsOfPart = Math.floor((end - first) / (runs * workers));
const { JEST_WORKER_ID = '0', SUZUMIO_TEST_RUN = '0' } = process.env;
const firstOfPart = first + (Number(SUZUMIO_TEST_RUN) * workers + (Number(JEST_WORKER_ID) % workers)) * portsOfPart;
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
