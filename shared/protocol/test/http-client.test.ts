import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import * as z from 'zod';
import { fetchExchange } from '@suzumio/protocol/fetch-exchange';
import { HttpClient } from '@suzumio/protocol/http-client';
import { HttpAnswerInvalid, HttpRefusal, HttpUnavailable } from '@suzumio/protocol/http-failures';

let server: Server;
let url: string;
let answer: (request: IncomingMessage, response: ServerResponse) => unknown;
beforeAll(async () => {
  server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const client = (options: { maxAnswerBytes?: number } = {}) =>
  new HttpClient({ url: `${url}/base/`, exchange: fetchExchange(), ...options });

function answering(status: number, body: string): void {
  answer = (_request, response) => response.writeHead(status).end(body);
}

test('JSON is sent below the base address with its token, and the answer is parsed', async () => {
  answer = async (request, response) => {
    const { method, url: at, headers } = request;
    const { authorization, 'content-type': type } = headers;
    response.end(JSON.stringify({ seen: [method, at, authorization, type, await text(request)].join(' ') }));
  };
  const request = { method: 'POST', path: '/things?a=b', token: 'secret', json: { name: 'x' } } as const;
  await expect(client().json(z.object({ seen: z.string() }), request)).resolves.toEqual({
    seen: 'POST /base/things?a=b Bearer secret application/json {"name":"x"}',
  });
});

test('bytes are sent as they are, and no body has no type', async () => {
  answer = async (request, response) =>
    response.end(`${String(request.headers['content-type'])} ${await text(request)}`);
  const said = async (body?: Uint8Array<ArrayBuffer>) =>
    new TextDecoder().decode(await client().send({ method: 'PUT', path: '/', body }));
  await expect(said(new Uint8Array([104, 105]))).resolves.toBe('application/octet-stream hi');
  await expect(said()).resolves.toBe('undefined ');
});

test.each([
  [409, '{"code":"turn-busy","detail":"It runs."}', 'turn-busy', 'It runs.'],
  [404, 'nothing here', 'http-404', 'nothing here'],
  [400, '', 'http-400', 'GET /x was answered 400.'],
])('status %i with %j is a refusal', async (status, body, code, message) => {
  answering(status, body);
  const error = await client()
    .send({ method: 'GET', path: '/x' })
    .catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(HttpRefusal);
  expect(error).toMatchObject({ status, code, message });
  await expect(client().ask({ method: 'GET', path: '/x' })).resolves.toMatchObject({ status });
});

test.each([
  [503, '{"code":"store-busy","detail":"Later."}', { code: 'store-busy', detail: 'Later.' }],
  [502, '<html>', undefined],
  [408, '', undefined],
])('status %i with %j may be tried again', async (status, body, problem) => {
  answering(status, body);
  const error = await client()
    .ask({ method: 'GET', path: '/x' })
    .catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(HttpUnavailable);
  expect(error).toMatchObject({ answer: { status, problem } });
});

test('what counts as passing is the client’s to say', async () => {
  const patient = new HttpClient({ url, exchange: fetchExchange(), isTransient: (status) => status === 429 });
  answering(429, '');
  await expect(patient.send({ method: 'GET', path: '/' })).rejects.toBeInstanceOf(HttpUnavailable);
  answering(500, '');
  await expect(patient.send({ method: 'GET', path: '/' })).rejects.toBeInstanceOf(HttpRefusal);
});

test('no connection, an answer that breaks off and one that does not come may be tried again', async () => {
  const nobody = new HttpClient({ url: 'http://127.0.0.1:9', exchange: fetchExchange() });
  await expect(nobody.send({ method: 'GET', path: '/' })).rejects.toBeInstanceOf(HttpUnavailable);
  answer = (request, response) => {
    response.writeHead(200, { 'content-length': 100 }).write('some');
    setTimeout(() => request.socket.destroy(), 20);
  };
  await expect(client().send({ method: 'GET', path: '/' })).rejects.toBeInstanceOf(HttpUnavailable);
  answer = () => undefined;
  await expect(client().send({ method: 'GET', path: '/', timeoutMs: 20 })).rejects.toBeInstanceOf(HttpUnavailable);
});

test('an aborted request throws its signal’s reason', async () => {
  const stop = new AbortController();
  answer = () => stop.abort(new Error('enough'));
  await expect(client().send({ method: 'GET', path: '/', signal: stop.signal })).rejects.toThrow('enough');
});

test('an answer that is too long or of another form is told apart', async () => {
  answering(200, 'x'.repeat(11));
  await expect(client({ maxAnswerBytes: 10 }).send({ method: 'GET', path: '/' })).rejects.toThrow(
    new RangeError('an answer of more than 10 bytes'),
  );
  await expect(client().json(z.object({}), { method: 'GET', path: '/' })).rejects.toBeInstanceOf(HttpAnswerInvalid);
});
