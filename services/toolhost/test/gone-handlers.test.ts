import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import express, { type Response } from 'express';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { handlerClaimAnswer, type HandlerTurn } from '@suzumio/protocol/handlers';
import { postMessage } from '@suzumio/store/mail/post-message';
import { startTurns } from '@suzumio/store/turns/start-turns';
import { recordingLogger } from '../../../test/support/logs.js';
import { eventually } from '../../../test/support/poll.js';
import { type ClaimWait, ClaimWaits } from '../src/claim-waits.js';
import type { ToolhostContext } from '../src/context.js';
import { handlersRouter } from '../src/handlers-router.js';
import { claimId, type ToolhostBench, toolhostBench } from './toolhost-client.js';

const yaml = `
name: team
task: Do the work.
channels: ["#team"]
turn: { maxAttempts: 1 }
backend: { runner: { mode: mock } }
agents:
  ada: { role: writer, prompt: Write., tools: [], backend: external }
`;

let bench: ToolhostBench;
let project: string;
let token: string;
const cleanups: (() => Promise<unknown>)[] = [];
beforeEach(async () => {
  bench = await toolhostBench();
  project = await bench.testing.create(yaml);
  const of = { name: 'desk', scope: 'handler', project, agents: ['ada'], actor: 'admin' } as const;
  token = (await bench.testing.cell.catalog.tokens.create(of)).secret;
});
afterEach(async () => {
  jest.restoreAllMocks();
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  await bench.close();
});

/** Serves the routes of handlers, with each request's response shown to `seen` first. */
async function served(seen: (response: Response) => void, waits = new ClaimWaits(bench.transport)): Promise<string> {
  const context = {
    cell: bench.testing.cell,
    transport: bench.transport,
    metrics: bench.metrics,
    logger: recordingLogger().logger,
    cellKey: bench.testing.cell.directory.cellKey(),
    leaseMs: 15_000,
  } as ToolhostContext;
  const app = express();
  app.use((_request, response, next) => {
    seen(response);
    next();
  });
  app.use(handlersRouter(context, waits));
  const server = createServer(app as RequestListener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanups.push(async () => {
    waits.close();
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  return `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
}

const mail = (body = 'Go.') =>
  bench.testing.write(project, (tx) => {
    postMessage(tx, { sender: 'user', recipient: 'ada', priority: 'P1', body, actor: 'test' });
    return startTurns(tx);
  });
const request = (url: string, id: string, signal?: AbortSignal) =>
  fetch(`${url}/projects/${project}/handlers/claim`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ claimId: id, handler: 'desk-1', protocol: 1, waitMs: 30_000 }),
    ...(signal && { signal }),
  });
const claim = async (url = bench.toolhost.workerUrl, id = claimId()): Promise<HandlerTurn | null> => {
  const answer = await request(url, id);
  return handlerClaimAnswer.parse(await answer.json()).turn;
};
const attempts = () =>
  bench.testing.rows(
    project,
    `SELECT number, status, counted, failure_json ->> 'code' AS code FROM turn_attempts ORDER BY number`,
  );
const handedBack = { number: 1, status: 'failed', counted: 0, code: 'handler-disconnected' };
const handedBackAlone = () =>
  eventually('it is handed back', async () => JSON.stringify(await attempts()) === JSON.stringify([handedBack]));
const running = { status: 'running', counted: null, code: null };

/** Lets the first claim's request close while the transaction of its grant is under way. */
async function goneDuringGrant(id: string): Promise<string> {
  const closed = Promise.withResolvers<unknown>();
  const gone = new AbortController();
  const url = await served((response) => response.once('close', closed.resolve));
  await bench.testing.store(project, (store) => {
    const write = store.write.bind(store);
    jest.spyOn(store, 'write').mockImplementation(async (verb) => {
      const written = await write(verb);
      if (!gone.signal.aborted && (await attempts()).length > 0) {
        gone.abort();
        await closed.promise;
      }
      return written;
    });
  });
  await expect(request(url, id, gone.signal)).rejects.toMatchObject({ name: 'AbortError' });
  return url;
}

test('a handler that is gone before its wait begins leaves none behind, and is given no turn', async () => {
  const closed = Promise.withResolvers<unknown>();
  const arrived = Promise.withResolvers<undefined>();
  let wait: ClaimWait | undefined;
  /** Begins no wait before its request is closed. */
  class LateWaits extends ClaimWaits {
    override async begin(of: Parameters<ClaimWaits['begin']>[0]) {
      arrived.resolve(undefined);
      await closed.promise;
      return (wait = await super.begin(of));
    }
  }
  const url = await served((response) => response.once('close', closed.resolve), new LateWaits(bench.transport));
  await mail();
  const gone = new AbortController();
  const asked = request(url, claimId(), gone.signal);
  await arrived.promise;
  gone.abort();
  await expect(asked).rejects.toMatchObject({ name: 'AbortError' });
  await eventually('the wait is cancelled', () => wait?.over === true);
  expect(await attempts()).toEqual([]);
});

describe('a turn that was granted to a handler that is gone', () => {
  test('is handed back, uncounted, and the next claim gets it with its mail', async () => {
    await mail('Read this.');
    await goneDuringGrant(claimId());
    await handedBackAlone();
    expect(await claim()).toMatchObject({ attempt: 2, mail: [{ body: 'Read this.' }] });
    expect(await attempts()).toEqual([handedBack, { number: 2, ...running }]);
  });

  test('is granted anew to the same claim', async () => {
    await mail();
    const id = claimId();
    const url = await goneDuringGrant(id);
    await handedBackAlone();
    const turn = await claim(url, id);
    expect(turn).toMatchObject({ attempt: 2 });
    // A repetition gets the attempt that runs, not the one that was handed back.
    expect(await claim(url, id)).toEqual(turn);
  });

  test('stays with its claim where that was repeated, and the repetition was answered', async () => {
    await mail();
    const id = claimId();
    let closed = false;
    let writesSince = 0;
    await bench.testing.store(project, (store) => {
      const write = store.write.bind(store);
      jest.spyOn(store, 'write').mockImplementation(async (verb) => {
        const written = await write(verb);
        if (closed) writesSince += 1;
        return written;
      });
    });
    const url = await served((response) => {
      response.once('close', () => (closed = true));
      const { json } = response;
      response.json = () => {
        response.json = json;
        // The second request is answered before the first one closes.
        const close = () => response.socket?.destroy();
        claim(bench.toolhost.workerUrl, id).then(close, close);
        return response;
      };
    });
    await expect(request(url, id)).rejects.toThrow('fetch failed');
    await eventually('its hand-back is refused', () => writesSince > 0);
    expect(await claim(bench.toolhost.workerUrl, id)).toMatchObject({ attempt: 1 });
    expect(await attempts()).toEqual([{ number: 1, ...running }]);
  });

  test('is handed back where the answer was written in part', async () => {
    // A connection's buffers in the kernel hold less.
    await mail('x'.repeat(20_000_000));
    const { port, hostname } = new URL(bench.toolhost.workerUrl);
    const socket = connect(Number(port), hostname);
    const sent = JSON.stringify({ claimId: claimId(), handler: 'desk-1', protocol: 1 });
    socket.write(
      `POST /projects/${project}/handlers/claim HTTP/1.1\r\nhost: ${hostname}\r\nauthorization: Bearer ${token}\r\n` +
        `content-type: application/json\r\ncontent-length: ${String(sent.length)}\r\n\r\n${sent}`,
    );
    await once(socket, 'readable');
    socket.destroy();
    await handedBackAlone();
  });
});
