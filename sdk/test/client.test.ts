import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { allItems, createClient, followCell, followEvents, followTurn, untilReply, untilStatus } from '../src/index.js';
import { allows, SuzumioError } from '../src/client.js';

let server: Server;
let api: ReturnType<typeof createClient>;
let asked: string[];
let answer: (response: ServerResponse) => void;

beforeAll(async () => {
  server = createServer((request, response) => {
    asked.push(request.url ?? '');
    answer(response);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  api = createClient({ url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`, token: 'secret' });
});
afterAll(() => {
  server.close();
});
beforeEach(() => {
  asked = [];
});

const json = (value: unknown, status = 200) => {
  answer = (response) => {
    response.writeHead(status, { 'content-type': status < 400 ? 'application/json' : 'application/problem+json' });
    response.end(JSON.stringify(value));
  };
};

test('what a newer server answers and refuses comes through as it says it', async () => {
  json({ items: [{ id: 'news', status: 'archived', colour: 'red' }] });
  const { items } = await api.listProjects();
  expect(items).toEqual([{ id: 'news', status: 'archived', colour: 'red' }]);

  json({ code: 'moon-full', detail: 'Not tonight.' }, 409);
  const refusal = await api.startProject({ project: 'news' }).catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(SuzumioError);
  expect(refusal).toMatchObject({ code: 'moon-full', message: 'Not tonight.', status: 409, retryable: false });

  json({ code: 'moon-rising', detail: 'In a while.' }, 503);
  await expect(api.getHealth()).rejects.toMatchObject({ code: 'moon-rising', status: 503, retryable: true });
});

test('what a token may ask for follows from its scope', () => {
  expect(['read', 'mail', 'operate', 'write', 'admin'].map((scope) => allows(scope, 'sendMessage'))).toEqual([
    false,
    true,
    true,
    true,
    true,
  ]);
  expect([allows('read', 'listProjects'), allows('write', 'deleteProject'), allows('admin', 'deleteProject')]).toEqual([
    true,
    false,
    true,
  ]);
  expect([allows('worker', 'listProjects'), allows('handler', 'listProjects')]).toEqual([false, false]);
});

test('a wait longer than one request may take asks again, and ends in time', async () => {
  json({ project: {}, reached: null });
  const waited = await untilStatus(api, { project: 'news', status: ['completed', 'stopped'], timeoutMs: 30 });
  expect(waited.reached).toBeNull();
  expect(asked.length).toBeGreaterThan(0);
  expect(decodeURIComponent(asked[0] ?? '')).toMatch(/wait\?status=completed,stopped&timeout=(30|2\d)ms$/);

  let times = 0;
  answer = (response) => {
    times += 1;
    response.setHeader('content-type', 'application/json');
    // A server that is restarted meanwhile.
    if (times === 2) response.statusCode = 503;
    response.end(JSON.stringify({ project: {}, reached: times < 4 ? null : 'stopped' }));
  };
  expect(await untilStatus(api, { project: 'news', status: 'stopped' })).toMatchObject({ reached: 'stopped' });
  expect(times).toBe(4);
  expect(asked.at(-1)).toMatch(/timeout=50000ms$/);
});

test('a wait for a reply asks again for as long as one may come, and where the server is away', async () => {
  let times = 0;
  answer = (response) => {
    times += 1;
    response.setHeader('content-type', 'application/json');
    if (times === 2) response.statusCode = 503;
    response.end(JSON.stringify({ message: 'm', state: times < 4 ? 'waiting' : 'replied', reply: null, reasons: [] }));
  };
  expect(await untilReply(api, { project: 'news', message: '7' })).toMatchObject({ state: 'replied' });
  expect(times).toBe(4);
  expect(asked.at(-1)).toMatch(/\/messages\/7\/reply\?timeout=50000ms$/);
});

test('an event of a type that is not known yet is given, too, and a refusal is of the same class', async () => {
  answer = (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end('id: 1-1\nevent: moon.rose\ndata: {"seq":1,"type":"moon.rose"}\n\nevent: deleted\ndata: {}\n\n');
  };
  const events = followEvents(api, { project: 'news' });
  expect((await events.next()).value).toEqual({ seq: 1, type: 'moon.rose' });
  const ended = await events.next().catch((error: unknown) => error);
  expect(ended).toBeInstanceOf(SuzumioError);
  expect(ended).toMatchObject({ code: 'project-unknown' });
});

test('a running turn is followed to the end of its attempt', async () => {
  answer = (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const frame = 'event: live\ndata: {"kind":"model","step":"ask.1","text":"Good "}\n\n';
    response.end(`: here\n\n${frame}event: end\ndata: {"attempt":1,"status":"completed"}\n\n`);
  };
  const frames = followTurn(api, { project: 'news', turn: 'editor:3' });
  expect((await frames.next()).value).toEqual({ kind: 'model', step: 'ask.1', text: 'Good ' });
  expect(await frames.next()).toEqual({ done: true, value: { attempt: 1, status: 'completed' } });
  expect(asked.at(-1)).toMatch(/\/api\/projects\/news\/turns\/editor(:|%3A)3\/live$/);
});

test('whoever follows all projects is told what is over apart from what happens, and begins where it says', async () => {
  const messages = [
    'id: 7-1\nevent: ready\ndata: {}\n\n',
    'id: 7-2\nevent: moon.rose\ndata: {"project":"news","type":"moon.rose"}\n\n',
    'id: 7-3\nevent: project.deleted\ndata: {"project":"old","epoch":1}\n\n',
  ];
  answer = (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(messages.splice(0).join(''));
  };
  const notices: unknown[] = [];
  const over = new AbortController();
  const events = followCell(api, {
    label: ['team=river'],
    onNotice: (notice) => notices.push(notice),
    onLost: () => over.abort(),
    signal: over.signal,
  });
  expect((await events.next()).value).toEqual({ project: 'news', type: 'moon.rose' });
  expect(await events.next()).toEqual({ done: true, value: undefined });
  expect(notices).toEqual([{ type: 'project.deleted', project: 'old', epoch: 1 }]);
  expect(decodeURIComponent(asked[0] ?? '')).toMatch(/\/api\/stream\?label=team=river$/);
});

test('a list goes on where the part before it ended', async () => {
  let times = 0;
  answer = (response) => {
    times += 1;
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ items: [times], ...(times < 3 ? { next: times } : {}) }));
  };
  await allItems((after: number | undefined) => api.listTurns({ project: 'news', query: { after } }), 0);
  expect(asked.map((url) => /after=(\d)/.exec(url)?.[1])).toEqual(['0', '1', '2']);
});
