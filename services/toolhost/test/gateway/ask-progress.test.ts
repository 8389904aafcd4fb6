import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Behaviour, event, type ModelServer, startModelServer } from '../../../../test/support/model-server.js';
import { AskProgress } from '../../src/gateway/ask-progress.js';
import { askProvider, written } from '../../src/gateway/ask-provider.js';
import { chatFormat } from '../../src/gateway/chat.js';

let server: ModelServer;
let behaviour: Behaviour;

beforeAll(async () => {
  server = await startModelServer(() => behaviour);
});
afterAll(() => server.close());

/** How far a question comes that fails. */
async function failing(given: Behaviour, baseURL = server.baseURL): Promise<AskProgress> {
  behaviour = given;
  const progress = new AskProgress();
  const ask = {
    baseURL,
    format: chatFormat,
    headers: {},
    body: { model: 'm', messages: [], stream: true },
    // Only what never ends has to be given up soon.
    timeoutMs: /silent|1000/.test(JSON.stringify(given)) ? 500 : 60_000,
    silenceMs: 60_000,
  };
  await expect(askProvider(written(ask), undefined, progress)).rejects.toThrow();
  return progress;
}

const piece = event({ choices: [{ index: 0, delta: { content: 'Well, ' } }] });

test.each<[string, Behaviour, boolean, boolean]>([
  ['an answer that breaks off', { lines: [piece], cut: true }, true, true],
  ['an answer that takes too long', { lines: [piece, 1_000] }, true, true],
  ['no answer in time', { silent: true }, true, true],
  ['a connection that is reset', { reset: true }, false, true],
  ['an error', { status: 500 }, false, true],
  ['too many requests', { status: 429 }, false, false],
  ['an overload', { status: 503 }, false, false],
])('%s: is it paid for, and may the question be the cause?', async (_name, given, paidFor, mayBeItsFault) => {
  expect(await failing(given)).toMatchObject({ paidFor, mayBeItsFault });
});

test('a port on which nobody listens got no question', async () => {
  expect(await failing({ text: '' }, 'http://127.0.0.1:9/v1')).toMatchObject({ paidFor: false, mayBeItsFault: false });
});
