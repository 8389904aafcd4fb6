import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { allItems } from '../../src/client/all-items.js';
import { type Client, createClient } from '../../src/client/client.js';

interface Received extends Pick<IncomingMessage, 'method' | 'url' | 'headers'> {
  body: string;
}

let server: Server;
let api: Client;
let received: Received | undefined;
let answer: { status?: number; type: string; body: string };

beforeAll(async () => {
  server = createServer((request, response) => {
    text(request).then(
      (body) => {
        const { method, url, headers } = request;
        received = { method, url, headers, body };
        response.writeHead(answer.status ?? 200, { 'content-type': answer.type }).end(answer.body);
      },
      () => response.destroy(),
    );
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  api = createClient({ url: `http://127.0.0.1:${port}/suzumio/`, token: 'secret' });
});
afterAll(() => {
  server.close();
});

const json = (value: unknown, status = 200) => {
  answer = { status, type: 'application/json', body: JSON.stringify(value) };
};

test('names stand in the path and lists in the query as the server reads them', async () => {
  json({ items: [] });
  await api.listThread({ project: 'news', thread: 'a/b ?', query: { limit: 5, after: undefined } });
  expect(received).toMatchObject({
    method: 'GET',
    url: '/suzumio/api/projects/news/threads/a%2Fb%20%3F?limit=5',
    headers: { authorization: 'Bearer secret' },
    body: '',
  });
  await api.listProjects({ query: { label: ['team=news', 'env=test'], status: ['running'] } });
  expect(received?.url).toBe('/suzumio/api/projects?label=team%3Dnews%2Cenv%3Dtest&status=running');
});

test('a body is JSON, also where it is empty, and a key goes with it', async () => {
  json({ id: 'msg_1', seq: 1, recipients: ['ada'], busy: [] }, 201);
  const body = { recipient: 'ada', body: 'Hello.' };
  const sent = await api.sendMessage({ project: 'news', body }, { idempotencyKey: 'k-1' });
  expect(sent.recipients).toEqual(['ada']);
  expect(received?.headers).toMatchObject({ 'content-type': 'application/json', 'idempotency-key': 'k-1' });
  expect(JSON.parse(received?.body ?? '')).toEqual(body);
  json({ paused: null });
  await api.resumeCell();
  expect(received).toMatchObject({ method: 'POST', body: '{}' });
});

test('a text is a text, and bytes come as they come', async () => {
  answer = { type: 'text/plain', body: 'printed\n' };
  expect(await api.getTurnLog({ project: 'news', turn: 'ada:1' })).toBe('printed\n');
  answer = { type: 'application/octet-stream', body: '1,2\n' };
  const chunks: Uint8Array[] = [];
  for await (const chunk of await api.getArtifactContent({ project: 'news', artifact: 'art_1' })) chunks.push(chunk);
  expect(Buffer.concat(chunks).toString()).toBe('1,2\n');
});

test('a refusal is the error that it was at the server', async () => {
  json({ code: 'project-unknown', detail: 'There is no project "x".', status: 404 }, 404);
  await expect(api.getProject({ project: 'x' })).rejects.toMatchObject({
    code: 'project-unknown',
    message: 'There is no project "x".',
  });
  json({ code: 'store-busy', detail: 'Busy.', status: 503 }, 503);
  await expect(api.getProject({ project: 'x' })).rejects.toMatchObject({ code: 'store-busy', retryable: true });
  json({ nonsense: true });
  await expect(api.getProject({ project: 'x' })).rejects.toMatchObject({ code: 'internal' });
  answer = { status: 502, type: 'text/html', body: '<p>Bad gateway' };
  await expect(api.getProject({ project: 'x' })).rejects.toMatchObject({ code: 'server-unreachable' });
});

test('a list is read to its end', async () => {
  const parts = [{ items: [1, 2], next: 'b' }, { items: [3] }];
  const asked: (string | undefined)[] = [];
  const items = await allItems((after: string | undefined) => {
    asked.push(after);
    return Promise.resolve(parts[asked.length - 1] ?? { items: [] });
  });
  expect({ items, asked }).toEqual({ items: [1, 2, 3], asked: [undefined, 'b'] });
});

test('what an operation does not take does not compile', () => {
  const mistakes = (client: Client) => [
    // @ts-expect-error a project has to be named
    client.getProject(),
    // @ts-expect-error there is no such state of a task
    client.listTasks({ project: 'news', query: { state: 'lost' } }),
    // @ts-expect-error mail has a text
    client.sendMessage({ project: 'news', body: { recipient: 'ada' } }),
    // @ts-expect-error it takes no body
    client.startProject({ project: 'news', body: { now: true } }),
  ];
  expect(mistakes).toBeInstanceOf(Function);
});
