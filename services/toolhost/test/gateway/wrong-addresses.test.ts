import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { connectionFailure } from '@suzumio/runtime/http/connection-failure';
import type { Failure } from '@suzumio/protocol/failure-codes';
import { type Behaviour, type ModelServer, startModelServer } from '../../../../test/support/model-server.js';
import { freePort } from '../../../../test/support/free-port.js';
import { allowing, type ToolhostBench, toolhostBench } from '../toolhost-client.js';

let server: ModelServer;
let behaviour: Behaviour;
let bench: ToolhostBench | undefined;

beforeEach(async () => {
  behaviour = { text: 'Yes.' };
  server = await startModelServer(() => behaviour);
});
afterEach(async () => {
  await bench?.close();
  bench = undefined;
  await server.close();
});

interface Turn {
  status: string;
  give_up_at_ms: number | null;
  failure: Failure;
}

/** What becomes of a turn whose model is asked at an address. */
async function askAt(baseURL: string, agent = 'worker-1'): Promise<Turn> {
  bench ??= await toolhostBench(allowing({ baseURL }));
  const project =
    bench.testing.cell.catalog.projects.all()[0]?.id ??
    (await bench.testing.create(`
name: thinkers
task: Think.
backend:
  runner:
    mode: ai
    model: main
    models:
      providers: { desk: { type: openai-compatible, baseURL: "${baseURL}" } }
      presets: { main: { provider: desk, model: small-1 } }
agents:
  worker: { role: thinker, prompt: Think., count: 3 }
`));
  const attempt = await bench.begin(project, agent);
  await attempt.ask({ messages: [{ role: 'user', content: 'Well?' }] });
  const [turn] = await bench.testing.rows<Omit<Turn, 'failure'> & { failure_json: string }>(
    project,
    `SELECT turns.status, give_up_at_ms, turn_attempts.failure_json FROM turns JOIN turn_attempts ON turn_id = id
     WHERE turn_id = '${attempt.turn}'`,
  );
  if (!turn) throw new Error('the turn is gone');
  return { ...turn, failure: JSON.parse(turn.failure_json) as Failure };
}

const waits = ({ give_up_at_ms: at }: Turn) => Math.round(((at ?? 0) - Date.now()) / 60_000);

describe('an address that is wrong', () => {
  test('of a port on which nobody listens is told, and waited for ten minutes where there was never anybody', async () => {
    const port = await freePort();
    const turn = await askAt(`http://127.0.0.1:${port}/v1`);
    expect(turn.status).toBe('queued');
    expect(turn.failure.message).toMatch(
      new RegExp(`at 127.0.0.1:${port} could not be asked: nobody listens there \\(ECONNREFUSED\\); see that it is`),
    );
    expect(waits(turn)).toBe(10);
    // Whoever is held back waits no longer for it.
    expect(waits(await askAt('', 'worker-2'))).toBe(10);
  });

  test('is none where somebody was there once: that is waited for as long as the project says', async () => {
    await askAt(server.baseURL);
    await server.close();
    const turn = await askAt(server.baseURL, 'worker-2');
    expect(turn.failure.message).toContain('ECONNREFUSED');
    expect(waits(turn)).toBe(24 * 60);
  });

  test.each<[string, string, string | RegExp]>([
    ['without /v1', '', /look at the model "small-1" .*it has no \/v1, below which most servers answer/],
    ['with it', '/v1', /look at the model "small-1" of preset main\.$/],
  ])('%s that answers 404 fails the turn, and says what to look at', async (_name, path, message) => {
    behaviour = { status: 404, body: '404 page not found' };
    const turn = await askAt(`${new URL(server.baseURL).origin}${path}`);
    expect(turn).toMatchObject({ status: 'failed', failure: { code: 'model-unknown' } });
    expect(turn.failure.message).toMatch(message);
  });

  test('of a server without TLS is told as that', async () => {
    const turn = await askAt(server.baseURL.replace('http:', 'https:'));
    expect(turn.failure.message).toMatch(/does not speak TLS .*http:\/\//);
  });

  test('of something that does not speak HTTP is told as that', async () => {
    // What it is sent has to be read, or the connection is never seen to end.
    const other = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.resume().end('SSH-2.0-OpenSSH\r\n');
    });
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const turn = await askAt(`http://127.0.0.1:${(other.address() as AddressInfo).port}/v1`);
    other.close();
    expect(turn.status).toBe('queued');
  });

  test.each([
    ['ENOTFOUND', /there is no host named models\.test/],
    ['EAI_AGAIN', /could not be looked up/],
    ['ETIMEDOUT', /no way leads there/],
    ['ERR_TLS_CERT_ALTNAME_INVALID', /its certificate is for another name/],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', /its certificate is not trusted .*NODE_EXTRA_CA_CERTS/],
    ['CERT_HAS_EXPIRED', /its certificate is not trusted/],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', /its certificate is not trusted/],
  ])('%s is told in words, without what else the address holds', (code, words) => {
    const address = 'https://user:secret@models.test/v1';
    const told = connectionFailure(Object.assign(new Error('no'), { code }), address);
    expect(told).toMatch(words);
    expect(told).toContain(code);
    expect(told).not.toContain('secret');
    const nested = new TypeError('fetch failed', { cause: new AggregateError([Object.assign(new Error(), { code })]) });
    expect(connectionFailure(nested, address)).toBe(told);
  });
});
