import { createServer, type Server } from 'node:http';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import express from 'express';
import type { ModelAnswer } from '@suzumio/protocol/model-chat';
import { type ModelServer, startModelServer } from '../../test/support/model-server.js';
import { thinkingYaml } from '../../test/support/thinking.js';
import { AnswerStream } from '../../services/toolhost/src/gateway/answer-stream.js';
import { allowing, toolhostBench } from '../../services/toolhost/test/toolhost-client.js';
import { createModelClient, type ModelCaller } from '../src/ai/model-client.js';
import { connectorTo } from '../src/door/connector.js';
import { exitCodes } from '../src/turn-failure.js';
import { closed, listen } from './support/turn.js';

const question = {
  step: '0',
  purpose: 'turn' as const,
  messages: [{ role: 'user' as const, content: 'Well?' }],
  tools: [],
};

function clientOf(url: string, token: string, { texts = [] as string[], logged = [] as string[] } = {}): ModelCaller {
  return createModelClient(connectorTo(url, process), {
    token,
    patienceMs: 500,
    timeoutMs: 10_000,
    log: (line) => logged.push(line),
    onText: (text) => texts.push(text),
  });
}

const calls = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ id: `c${n}`, name: 'artifacts_list', arguments: '{"a":"é 🌊"}' }));

describe("the gateway's stream", () => {
  let server: Server;
  let answer: ModelAnswer;
  let pieces: string[];
  let asked: number;
  let url: string;

  beforeEach(async () => {
    answer = { text: '', toolCalls: [], finishReason: 'stop' };
    pieces = [];
    asked = 0;
    const app = express().post('/v1/chat/completions', (_request, response) => {
      asked += 1;
      const stream = new AnswerStream(response, 'chatcmpl-1');
      for (const piece of pieces) stream.text(piece);
      stream.end(answer);
    });
    server = createServer((request, response) => void app(request, response));
    url = `http://127.0.0.1:${await listen(server, 0)}`;
  });
  afterEach(() => closed(server));

  test.each<[string, Partial<ModelAnswer>, string[]]>([
    ['a text in pieces', { text: 'In pieces: é 🌊.', model: 'm' }, ['In pie', 'ces: é']],
    ['a text that was journaled', { text: 'Whole.', finishReason: 'length' }, []],
    ['half a character in each piece', { text: 'a🌊' }, ['a\ud83c', '\udf0a']],
    ['a refusal', { refusal: 'I will not.' }, []],
    ['a text and calls', { text: 'So.', toolCalls: calls(3), finishReason: 'tool_calls' }, ['So.']],
    ['200 calls', { toolCalls: calls(200), finishReason: 'tool_calls' }, []],
    ['a call of nothing', { toolCalls: [{ id: 'c', name: '', arguments: '{"cut' }], finishReason: 'length' }, []],
    ['a call with a strange name', { toolCalls: [{ id: 'c', name: '__proto__', arguments: '{}' }] }, []],
    ['what it used', { text: 'x', usage: { inputTokens: 7, outputTokens: 3 } }, []],
  ])('is read as it was meant: %s', async (_name, given, sent) => {
    answer = { text: '', toolCalls: [], finishReason: 'stop', ...given };
    pieces = sent;
    const texts: string[] = [];
    expect(await clientOf(url, 't', { texts }).ask(question)).toEqual({
      answer: { model: '', usage: { inputTokens: 0, outputTokens: 0 }, ...answer },
    });
    expect(texts.join('')).toBe(answer.text);
    expect(asked).toBe(1);
  });

  test('is asked for again where it ends in the middle, and given up as an absent door', async () => {
    answer = { text: 'Another answer.', toolCalls: [], finishReason: 'stop' };
    pieces = ['One answer.'];
    const asking = clientOf(url, 't').ask(question);
    await expect(asking).rejects.toMatchObject({ exitCode: exitCodes.doorAway });
    expect(asked).toBeGreaterThan(1);
  });
});

test.each([
  ['is no JSON', 'data: {"choi\n\n'],
  ['is no piece of an answer', 'data: {"choices":[{"index":0,"delta":null}]}\n\n'],
])('a stream that %s is a defect, not an absent door: it is told at once', async (_name, line) => {
  let asked = 0;
  const server = createServer((_request, response) => {
    asked += 1;
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(line);
  });
  const url = `http://127.0.0.1:${await listen(server, 0)}`;
  try {
    const thrown: unknown = await clientOf(url, 't')
      .ask(question)
      .catch((error: unknown) => error);
    expect(thrown).toBeInstanceOf(Error);
    expect(thrown).not.toHaveProperty('exitCode');
    expect(asked).toBe(1);
  } finally {
    await closed(server);
  }
});

test('what is said of tools to a model has the names that it calls them by', async () => {
  let asked: unknown;
  const app = express().post('/v1/chat/completions', express.json(), ({ body }, response) => {
    asked = body;
    new AnswerStream(response, 'chatcmpl-1').end({ text: 'So.', toolCalls: [], finishReason: 'stop' });
  });
  const server = createServer((request, response) => void app(request, response));
  const url = `http://127.0.0.1:${await listen(server, 0)}`;
  const described = (description: string) => ({ properties: { id: { description } } });
  try {
    await clientOf(url, 't').ask({
      ...question,
      tools: [
        { name: 'shell.read', description: 'After shell.exec.', inputSchema: described('As shell.exec gave it.') },
      ],
    });
    expect(asked).toMatchObject({
      tools: [
        {
          function: {
            name: 'shell_read',
            description: 'After shell_exec.',
            parameters: described('As shell_exec gave it.'),
          },
        },
      ],
    });
  } finally {
    await closed(server);
  }
});

describe('from the provider through the gateway', () => {
  let models: ModelServer;
  beforeEach(async () => {
    models = await startModelServer(() => ({
      calls: Array.from({ length: 200 }, (_, n) => ({ id: `c${n}`, name: 'artifacts_list', arguments: {} })),
    }));
  });
  afterEach(() => models.close());

  test('an answer with 200 calls arrives with as many as any provider takes back, and is asked for once', async () => {
    const bench = await toolhostBench(allowing({ baseURL: models.baseURL }));
    try {
      const project = await bench.testing.create(thinkingYaml(models.baseURL, { name: 'many' }));
      const ada = await bench.begin(project, 'ada');
      const result = await clientOf(bench.toolhost.runnerUrl, ada.answer.toolToken).ask(question);
      const made = 'answer' in result ? result.answer.toolCalls : [];
      expect(made.map(({ id }) => id)).toEqual(Array.from({ length: 128 }, (_, n) => `c${n}`));
      expect(models.requests).toHaveLength(1);
    } finally {
      await bench.close();
    }
  });
});
