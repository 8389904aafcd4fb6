import { request as httpRequest } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { TokenScope } from '@suzumio/contract/model/access-token';
import { findTurn } from '@suzumio/store/turns/read-turns';
import { rawSocket } from '../../../test/support/raw-socket.js';
import { claimId, type ToolhostBench, toolhostBench } from './toolhost-client.js';

let bench: ToolhostBench;
let project: string;

beforeEach(async () => {
  bench = await toolhostBench({ allowedHosts: ['toolhost'], bodyPace: { graceMs: 300 } });
  project = await bench.testing.create();
});
afterEach(() => bench.close());

const credential = async (scope: TokenScope, name: string) => {
  const bound = scope === 'handler' ? { project, agents: ['ada'] } : {};
  return (await bench.testing.cell.catalog.tokens.create({ name, scope, ...bound, actor: 'admin' })).secret;
};
const audit = () => bench.testing.cell.catalog.audit.list({ limit: 10 }).items;

describe('a worker’s credential', () => {
  test('of its own claims turns, and is recorded with the attempt', async () => {
    const token = await credential('worker', 'east-1');
    const turn = await bench.queueTurn(project, 'ada');
    expect((await bench.claim(project, turn, { token })).status).toBe(200);
    const detail = await bench.testing.store(project, ({ reader }) => findTurn(reader, turn));
    expect(detail?.attempts).toMatchObject([{ worker: 'w1', credential: 'east-1' }]);
    const [started] = await bench.testing.rows<{ data_json: string }>(
      project,
      `SELECT data_json FROM events WHERE type = 'turn.started'`,
    );
    expect(JSON.parse(started?.data_json ?? '')).toMatchObject({ credential: 'east-1' });
  });

  test('of the data directory is one like any other', async () => {
    const turn = await bench.queueTurn(project, 'ada');
    expect((await bench.claim(project, turn)).status).toBe(200);
    expect(await bench.testing.rows(project, 'SELECT credential FROM turn_attempts')).toEqual([
      { credential: 'worker' },
    ]);
  });

  test('that is revoked claims nothing more; what it claimed goes on', async () => {
    const token = await credential('worker', 'east-1');
    const begun = await bench.begin(project, 'ada');
    const other = await bench.queueTurn(project, 'ben');
    await bench.testing.cell.catalog.tokens.revoke('worker');
    await bench.testing.cell.catalog.tokens.revoke('east-1');
    for (const each of [bench.workerToken, token]) {
      expect(await bench.claim(project, other, { token: each })).toMatchObject({
        status: 401,
        body: { code: 'token-rejected' },
      });
    }
    expect(await begun.report('heartbeat')).toMatchObject({ status: 200, body: { cancel: false } });
    expect(audit()).toEqual([]);
  });

  test.each<TokenScope>(['read', 'write', 'admin', 'handler'])(
    'is no API token: the scope %s is refused like a secret that nobody knows, and leaves a row',
    async (scope) => {
      const token = await credential(scope, 'ann');
      const turn = await bench.queueTurn(project, 'ada');
      const unknown = await bench.claim(project, turn, { token: 'x'.repeat(47) });
      expect(await bench.claim(project, turn, { token })).toEqual(unknown);
      expect(unknown).toMatchObject({ status: 401, body: { code: 'token-rejected' } });
      expect(audit()).toMatchObject([
        {
          token: 'ann',
          method: 'POST',
          route: '/projects/:project/turns/:turn/claim',
          project,
          code: 'token-rejected',
        },
      ]);
      expect(JSON.stringify(bench.logs())).not.toContain(token.slice(4));
    },
  );

  test('opens no route of attempts or runners', async () => {
    const { turn } = await bench.begin(project, 'ada');
    const attempt = `${bench.toolhost.workerUrl}/projects/${project}/turns/${turn}/attempts/1`;
    for (const url of [`${attempt}/heartbeat`, `${attempt}/complete`, `${bench.toolhost.runnerUrl}/tool`]) {
      expect(await bench.post(url, bench.workerToken, {})).toMatchObject({
        status: 401,
        body: { code: 'token-rejected' },
      });
    }
  });
});

describe.each([
  ['workers', () => bench.toolhost.workerUrl, '/projects/team/turns/turn_1/claim'],
  ['runners', () => bench.toolhost.runnerUrl, '/tool'],
])('the listener for %s', (_name, url, path) => {
  const send = (headers: Record<string, string>) =>
    new Promise<{ status: number | undefined; code: unknown }>((resolve, reject) => {
      const request = httpRequest(`${url()}${path}`, { method: 'POST', headers, agent: false }, (response) => {
        text(response).then((body) => {
          resolve({ status: response.statusCode, code: (JSON.parse(body) as Record<string, unknown>)['code'] });
        }, reject);
      });
      request.once('error', reject);
      request.end('{}');
    });

  test.each([
    [{ host: 'evil.example' }, 403, 'foreign-host'],
    [{ host: 'host.docker.internal:39410' }, 403, 'foreign-host'],
    [{ host: 'toolhost:39410', origin: 'http://evil.example' }, 403, 'foreign-origin'],
    [{ host: 'toolhost:39410', 'sec-fetch-site': 'cross-site' }, 403, 'foreign-origin'],
  ])('refuses %j', async (headers, status, code) => {
    expect(await send(headers)).toEqual({ status, code });
    expect(bench.logs().filter((line) => line['code'] === code)).toHaveLength(1);
    expect(await bench.metrics.registry.getSingleMetricAsString('suzumio_requests_refused_total')).toMatch(
      new RegExp(`code="${code}".* 1$`, 'm'),
    );
  });

  test('answers to the name that it was given', async () => {
    expect((await send({ host: 'toolhost:39410' })).code).not.toBe('foreign-host');
  });

  /** Begins a body that is said to have so many bytes. */
  const beginBody = async (bytes: number) => {
    const { turn, answer } = await bench.begin(project, 'ada');
    const [route, token] =
      path === '/tool'
        ? ['/tool', answer.toolToken]
        : [`/projects/${project}/turns/${turn}/attempts/1/complete`, answer.leaseToken];
    const socket = rawSocket(url());
    socket.write(
      `POST ${route} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: ${bytes}\r\n\r\n{`,
    );
    return socket;
  };

  test('refuses a body that is said to be too long before it comes', async () => {
    const received = await (await beginBody(100_000_000)).received();
    expect(received).toMatch(/^HTTP\/1\.1 413 /);
    expect(received).toContain('body-too-large');
  });

  test('cuts off a body that arrives a byte at a time', async () => {
    const socket = await beginBody(9000);
    socket.repeat(' ', 50);
    const received = await socket.received();
    expect(received).toMatch(/^HTTP\/1\.1 408 /);
    expect(received).toContain('request-too-slow');
  });
});

test('a secret that the ToolHost is given takes the place of the data directory’s', async () => {
  const turn = await bench.queueTurn(project, 'ada');
  const given = 'given-to-every-worker-of-this-cell';
  await bench.restart({ workerToken: given });
  expect((await bench.claim(project, turn)).status).toBe(401);
  expect((await bench.claim(project, turn, { token: given, claimId: claimId() })).status).toBe(200);
});
