import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { ClaimAnswer } from '@suzumio/protocol/attempts';
import type { RunnerTurnOutput } from '@suzumio/protocol/runner';
import { postMessage } from '@suzumio/store/mail/post-message';
import { startTurns } from '@suzumio/store/turns/start-turns';
import { askProvider, written } from '../../services/toolhost/src/gateway/ask-provider.js';
import { chatFormat } from '../../services/toolhost/src/gateway/chat.js';
import { allowing, begun, type ToolhostBench, toolhostBench } from '../../services/toolhost/test/toolhost-client.js';
import { freePort } from '../../test/support/free-port.js';
import { startModelServer } from '../../test/support/model-server.js';
import { pictures } from '../../test/support/pictures.js';
import { eventually } from '../../test/support/poll.js';
import { runTurn } from '../src/run-turn.js';
import { TurnFailure } from '../src/turn-failure.js';
import { attaching, AttachingProvider } from './support/attaching-providers.js';
import { createTurnPlace, type TurnPlace } from './support/turn.js';

// Servers that stand in for providers, made by others and not for Suzumio, answer a team: its turns are run by the runner,
// its questions asked by the ToolHost.

let server: ChildProcess;
let baseURL: string;
let bench: ToolhostBench;
let place: TurnPlace;
/** What agents left at the end of their turns, in order. */
let left: { agent: string; output: RunnerTurnOutput }[];

beforeEach(async () => {
  place = await createTurnPlace();
  left = [];
});
afterEach(async () => {
  server.kill();
  await once(server, 'exit');
  await bench.close();
  await place.remove();
});

/** Starts a server of these packages as a process of its own, and waits for it. */
async function start(program: string, args: string[], port: number): Promise<void> {
  const environment = { PATH: process.env['PATH'], HOST: '127.0.0.1', PORT: String(port) };
  server = spawn(process.execPath, [program, ...args], { env: environment, stdio: 'ignore' });
  const url = `http://127.0.0.1:${port}`;
  baseURL = `${url}/v1`;
  const healthy = () =>
    fetch(`${url}/health`).then(
      ({ ok }) => ok,
      () => false,
    );
  await eventually(`${program} answers`, healthy);
}

const { resolve } = createRequire(import.meta.url);

async function team(api = 'chat-completions', model = 'gpt-4o-mini'): Promise<string> {
  bench = await toolhostBench(allowing({ baseURL }));
  return bench.testing.create(`
name: bulletin
task: Write a bulletin.
tools: { toolpacks: [files] }
backend:
  runner:
    mode: ai
    model: main
    models:
      providers: { foreign: { type: openai-compatible, baseURL: "${baseURL}" } }
      presets: { main: { provider: foreign, model: "${model}", api: ${api} } }
agents:
  editor: { role: editor, prompt: Lead., tools: [messages.send] }
  writer: { role: writer, prompt: Write., tools: [messages.send, file.read] }
`);
}

const mail = (project: string, recipient: string, body: string) =>
  bench.testing.write(project, (tx) => {
    postMessage(tx, { sender: 'user', recipient, priority: 'P1', body, actor: 'test' });
  });

/** Runs turns until nobody has mail. */
async function play(project: string): Promise<void> {
  for (;;) {
    const turns = await bench.testing.write(project, (tx) => startTurns(tx));
    if (turns.length === 0) return;
    for (const turn of turns) {
      const { body } = await bench.claim(project, turn);
      const claim = body as unknown as ClaimAnswer;
      const agent = claim.input.agent.id;
      const output = await outputOf(claim);
      left.push({ agent, output });
      const { failure } = output;
      const attempt = begun(bench, project, agent, turn, claim);
      await (failure ? attempt.report('fail', { failure }) : attempt.report('complete', { output }));
    }
  }
}

async function outputOf({ input, toolToken: token }: ClaimAnswer): Promise<RunnerTurnOutput> {
  await place.prepare({ ...input, token, controllerUrl: bench.toolhost.runnerUrl });
  await rm(join(place.turnDir, 'output.json'), { force: true });
  const write = () => undefined;
  await runTurn({ turnDir: place.turnDir, self: process, env: {}, write }).catch((error: unknown) => {
    if (!(error instanceof TurnFailure)) throw error;
  });
  return JSON.parse(await readFile(join(place.turnDir, 'output.json'), 'utf8')) as RunnerTurnOutput;
}

const bodies = async (project: string) =>
  (await bench.testing.rows<{ body: string }>(project, 'SELECT body FROM messages ORDER BY seq')).map(
    ({ body }) => body,
  );

describe('aimock', () => {
  type Fixture = { match: object; response: object };

  async function answering(...fixtures: Fixture[]): Promise<string> {
    await serve(fixtures);
    return team();
  }

  async function serve(fixtures: readonly Fixture[]): Promise<void> {
    const file = join(place.workspace, 'fixtures.json');
    await writeFile(file, JSON.stringify({ fixtures }));
    const port = await freePort();
    const program = join(dirname(resolve('@copilotkit/aimock')), 'cli.js');
    await start(program, ['--port', String(port), '--fixtures', file, '--chunk-size', '5'], port);
  }

  const send = (recipient: string, body: string) => ({ name: 'messages_send', arguments: { recipient, body } });

  test('plays a team that talks and calls tools', async () => {
    const project = await answering(
      { match: { systemMessage: 'You are editor', hasToolResult: true }, response: { content: 'I asked for both.' } },
      {
        match: { systemMessage: 'You are editor' },
        response: {
          content: 'I ask the writer for both parts.',
          toolCalls: [send('writer', 'The north, please.'), send('writer', 'And the “south”: é\n🌊')],
        },
      },
      { match: { systemMessage: 'You are writer', hasToolResult: true }, response: { content: 'Written.' } },
      {
        match: { systemMessage: 'You are writer' },
        response: { toolCalls: [send('user', 'Both parts are written.')] },
      },
    );
    await mail(project, 'editor', 'The bulletin, please.');
    await play(project);
    expect(left.map(({ agent, output }) => [agent, output.text])).toEqual([
      ['editor', 'I ask the writer for both parts.\n\nI asked for both.'],
      ['writer', 'Written.'],
    ]);
    expect(await bodies(project)).toEqual([
      'The bulletin, please.',
      'The north, please.',
      'And the “south”: é\n🌊',
      'Both parts are written.',
    ]);
    const counted = await bench.testing.rows<{ input: number; output: number; estimated: number }>(
      project,
      'SELECT input_tokens AS input, output_tokens AS output, estimated FROM model_calls',
    );
    expect(counted).toHaveLength(4);
    for (const { input, output, estimated } of counted) {
      expect(Math.min(input, output)).toBeGreaterThan(0);
      expect(estimated).toBe(0);
    }
  });

  test.each(['chat-completions', 'responses'])('gets images and results of calls as it knows them: %s', async (api) => {
    const read = (path: string) => ({ name: 'file_read', arguments: { path } });
    await serve([
      { match: { userMessage: 'level.png: [image png 32x16' }, response: { content: 'I see the level.' } },
      {
        match: { systemMessage: 'You are writer' },
        response: { toolCalls: [read('level.png'), read('torn.png'), read('huge.png')] },
      },
    ]);
    const project = await team(api);
    const picture = pictures.png(32, 16);
    await writeFile(join(place.workspace, 'level.png'), picture);
    await writeFile(join(place.workspace, 'torn.png'), Buffer.from(picture).fill(0, 44, 50));
    // 100 megapixels.
    await writeFile(join(place.workspace, 'huge.png'), pictures.png(10_000, 10_000));
    await mail(project, 'writer', 'What do you see?');
    await play(project);
    expect(left.map(({ output }) => output.text)).toEqual(['I see the level.']);
    const asked = await fetch(baseURL.replace('/v1', '/__aimock/journal')).then((answer) => answer.text());
    // Of questions in the other format it notes no images.
    const shown = api === 'responses' ? [] : [`data:image/png;base64,${picture.toString('base64')}`];
    expect(asked.match(/data:[^"]+/g) ?? []).toEqual(shown);
    // Of the others, no provider gets anything but words.
    expect(asked).toMatch(/torn\.png.{0,10} is a PNG image that is not shown: it is damaged; make it again\./);
    expect(asked).toMatch(/huge\.png.{0,10} is a PNG image that is not shown: it has 10000x10000 pixels/);
  });

  test.each([
    ['content_filter', { content: 'I was', finishReason: 'content_filter' }, 'answer-withheld', /content_filter/],
    ['length', { content: 'and so on', finishReason: 'length' }, 'answer-endless', /cut at its longest 4 times/],
  ])('ends a turn that cannot be answered with a code of its own: %s', async (_finish, response, code, words) => {
    const project = await answering({ match: { systemMessage: 'You are editor' }, response });
    await mail(project, 'editor', 'The bulletin, please.');
    await play(project);
    expect(left).toMatchObject([{ output: { failure: { code, message: expect.stringMatching(words) } } }]);
    expect(await bench.testing.rows(project, 'SELECT status FROM turns')).toEqual([{ status: 'failed' }]);
  });
});

describe('mock-llm', () => {
  // Its streams hold texts and errors; calls are only in its whole answers.
  const rules = `
streaming: { chunkSize: 4, chunkIntervalMs: 1 }
rules:
  - path: /v1/chat/completions
    response:
      status: 200
      content: '{"id": "c1", "model": "m", "choices": [{"message": {"role": "assistant", "content": "I lead: {{jmes request body.model}}."}, "finish_reason": "stop"}]}'
  - path: /v1/chat/completions
    match: "contains(body.messages[0].content, 'You are writer')"
    response:
      status: 200
      content: '{"id": "c1", "model": "m", "choices": [{"message": {"role": "assistant", "content": "I write."}, "finish_reason": "stop"}]}'
  - path: /v1/chat/completions
    match: "contains(body.messages[-1].content, 'revoked')"
    response:
      status: 401
      content: '{"error": {"message": "Incorrect API key provided.", "type": "invalid_request_error", "param": null, "code": "invalid_api_key"}}'
  - path: /v1/chat/completions
    match: "contains(body.messages[-1].content, 'Who calls?')"
    response:
      status: 200
      content: '{"choices": [{"message": {"role": "assistant", "content": null, "tool_calls": [{"id": "x", "type": "function", "function": {"name": "one", "arguments": "{}"}}, {"id": "x", "type": "function", "function": {"name": "two"}}]}, "finish_reason": "tool_calls"}]}'
`;

  beforeEach(async () => {
    const config = join(place.workspace, 'mock-llm.yaml');
    await writeFile(config, rules);
    await start(resolve('@dwmkerr/mock-llm'), ['--config', config], await freePort());
  });

  test('plays a team that talks', async () => {
    const project = await team();
    await mail(project, 'editor', 'The bulletin, please.');
    await mail(project, 'writer', 'The north, please.');
    await play(project);
    expect(new Map(left.map(({ agent, output }) => [agent, output.text]))).toEqual(
      new Map([
        ['editor', 'I lead: gpt-4o-mini.'],
        ['writer', 'I write.'],
      ]),
    );
  });

  test('refuses a key within a stream that begins with 200, and is told at once in its words', async () => {
    const project = await team();
    await mail(project, 'editor', 'Your key is revoked.');
    const [turn = ''] = await bench.testing.write(project, (tx) => startTurns(tx));
    const { body } = await bench.claim(project, turn);
    await outputOf(body as unknown as ClaimAnswer).catch(() => undefined);
    const [failed] = await bench.testing.rows<{ status: string; failure_json: string }>(
      project,
      'SELECT status, failure_json FROM turns',
    );
    expect(failed?.status).toBe('failed');
    expect(JSON.parse(failed?.failure_json ?? '{}')).toMatchObject({
      code: 'provider-key-rejected',
      message: expect.stringMatching(
        /Incorrect API key provided; look at apiKeyEnv, which the provider "foreign" does not name/,
      ),
    });
  });

  test('answers whole with two calls under one id, of which each is one', async () => {
    await team();
    const { toolCalls } = await askProvider(
      written({
        baseURL,
        format: chatFormat,
        headers: {},
        body: { model: 'm', messages: [{ role: 'user', content: 'Who calls?' }], stream: false },
        timeoutMs: 10_000,
        silenceMs: 5_000,
      }),
    );
    expect(toolCalls).toEqual([
      { id: 'x', name: 'one', arguments: '{}' },
      { id: expect.stringMatching(/^[0-9A-Za-z]{9}$/), name: 'two', arguments: '' },
    ]);
  });
});

describe('llms', () => {
  // What people have before their providers to route between them; the provider behind it is played here.
  const program = `
const { default: Server } = require(process.argv[1]);
const [HOST, PORT, api_base_url] = process.argv.slice(2);
const behind = { name: 'behind', api_base_url, api_key: 'none', models: ['m'] };
new Server({ logger: false, initialConfig: { HOST, PORT, LOG: false, providers: [behind] } }).start();`;

  test.each(['deepseek', 'openRouter', 'gemini'] as const)(
    'carries a team with tools over two turns, and what the provider behind it attaches: %s',
    async (kind) => {
      const provider = new AttachingProvider(attaching[kind], true);
      let answers = 0;
      const behind = await startModelServer((request) => {
        const refused = provider.refusal(request);
        if (refused) return refused;
        answers += 1;
        return answers % 2 === 1
          ? provider.calls('messages_send', [{ recipient: 'user', body: `Part ${answers}.` }], answers)
          : provider.text(`The end ${answers}.`, answers);
      });
      try {
        const port = await freePort();
        const address = `${behind.baseURL}/chat/completions`;
        await start('--eval', [program, resolve('@musistudio/llms'), '127.0.0.1', String(port), address], port);
        const project = await team('chat-completions', 'behind,m');
        for (const body of ['The north, please.', 'And the south.']) {
          await mail(project, 'writer', body);
          await play(project);
        }
        expect(provider.refused).toEqual([]);
        expect(left.map(({ output }) => output.text)).toEqual(['The end 2.', 'The end 4.']);
        expect(await bodies(project)).toEqual(['The north, please.', 'Part 1.', 'And the south.', 'Part 3.']);
      } finally {
        await behind.close();
      }
    },
  );
});
