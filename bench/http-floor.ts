import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/**
 * What accepting a message and telling followers of it cost at the least: Express, one SQLite transaction with
 * `synchronous=FULL` a request, and one write for each follower. No token, no schema, no inbox, no event that is kept.
 */
export interface HttpFloor {
  readonly messagesUrl: string;
  readonly eventsUrl: string;
  stop(): Promise<void>;
}

export async function startHttpFloor(): Promise<HttpFloor> {
  const server = fork(fileURLToPath(new URL('http-floor-server.ts', import.meta.url)));
  const [port] = (await once(server, 'message')) as [number];
  const url = `http://127.0.0.1:${port}`;
  return {
    messagesUrl: `${url}/messages`,
    eventsUrl: `${url}/events`,
    async stop() {
      const ended = once(server, 'exit');
      server.kill('SIGTERM');
      await ended;
    },
  };
}
