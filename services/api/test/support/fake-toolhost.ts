import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { LiveLine } from '@suzumio/protocol/live';
import { toolhostHealthPath } from '@suzumio/protocol/toolhost-health';

/** A ToolHost as the API sees it: whoever follows is told what the test says. */
export interface FakeToolhost {
  readonly url: string;
  readonly followers: ServerResponse[];
  asked: { path: string; authorization: string }[];
  say(line: LiveLine): void;
  /** With which it refuses, if it does. */
  refusal: { status: number; code: string } | undefined;
  close(): Promise<void>;
}

export async function fakeToolhost(): Promise<FakeToolhost> {
  const followers: ServerResponse[] = [];
  const fake: Omit<FakeToolhost, 'url'> = {
    followers,
    asked: [],
    refusal: undefined,
    say: (line) => followers.forEach((follower) => follower.write(`${JSON.stringify(line)}\n`)),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  const server: Server = createServer((request, response) => {
    if (request.url === toolhostHealthPath) {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ version: '0.1.0' }));
      return;
    }
    fake.asked.push({ path: request.url ?? '', authorization: request.headers.authorization ?? '' });
    if (fake.refusal) {
      const { status, code } = fake.refusal;
      response.writeHead(status, { 'content-type': 'application/problem+json' });
      response.end(JSON.stringify({ code, detail: 'No.', status, title: 'No', type: 'about:blank' }));
      return;
    }
    response.writeHead(200, { 'content-type': 'application/x-ndjson' }).flushHeaders();
    followers.push(response);
    response.once('close', () => followers.splice(followers.indexOf(response), 1));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return Object.assign(fake, { url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}` });
}
