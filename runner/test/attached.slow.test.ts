import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { expireLease } from '@suzumio/store/turns/leases';
import { type ModelServer, startModelServer } from '../../test/support/model-server.js';
import {
  allowing,
  type Begun,
  begun,
  type ToolhostBench,
  toolhostBench,
} from '../../services/toolhost/test/toolhost-client.js';
import { createModelClient } from '../src/ai/model-client.js';
import { think } from '../src/ai/think.js';
import { connectorTo } from '../src/door/connector.js';
import { DoorClient } from '../src/door/door-client.js';
import { SandboxSteps } from '../src/sandbox/sandbox-steps.js';
import { createToolClient } from '../src/tools/tool-client.js';
import { attaching, AttachingProvider } from './support/attaching-providers.js';

let server: ModelServer;
let bench: ToolhostBench;

beforeEach(async () => {
  server = await startModelServer(() => ({ status: 500 }));
  bench = await toolhostBench(allowing({ baseURL: server.baseURL }));
});
afterEach(async () => {
  await bench.close();
  await server.close();
});

const create = (preset = '', presets = 'main: { provider: p, model: m PRESET }') =>
  bench.testing.create(`
name: attached
task: Think.
backend:
  runner:
    mode: ai
    model: main
    models:
      providers: { p: { type: openai-compatible, baseURL: "${server.baseURL}" } }
      presets: { ${presets.replace('PRESET', preset)} }
agents:
  ada: { role: thinker, prompt: Think., tools: ["*"] }
  ben: { role: thinker, prompt: Think., tools: ["*"] }
`);

class Killed extends Error {}

/** Takes a turn as a runner does; one that is killed asks no question from a step on. */
async function takeTurn(attempt: Begun, killedAt = Infinity): Promise<string> {
  const url = bench.toolhost.runnerUrl;
  const input = {
    ...attempt.answer.input,
    workspace: '/nowhere',
    controllerUrl: url,
    token: attempt.answer.toolToken,
  };
  const connector = connectorTo(url, process);
  const log = () => undefined;
  const door = new DoorClient(connector, { patienceMs: 500, log });
  const model = createModelClient(connector, {
    token: input.token,
    patienceMs: 500,
    timeoutMs: 60_000,
    log,
    onText: log,
  });
  const output = await think(input, {
    model: {
      ask(question) {
        if (Number(question.step) >= killedAt) throw new Killed();
        return model.ask(question);
      },
    },
    tools: createToolClient(door, input, new SandboxSteps(door, input).write),
    log,
  });
  return output.text;
}

/** The next attempt of a turn whose runner is gone. */
async function nextAttempt(project: string, { turn }: Begun, attempt = 1): Promise<Begun> {
  bench.testing.setNow(bench.testing.cell.context.now() + 60_000);
  await bench.testing.write(project, (tx) => expireLease(tx, { turn, attempt }));
  const { body } = await bench.claim(project, turn);
  return begun(bench, project, 'ada', turn, body as never);
}

const list = 'artifacts_list';
const variants = Object.entries(attaching).flatMap(([name, kind]) =>
  [true, false].map((streamed) => ({ name, kind, streamed, how: streamed ? 'streamed' : 'whole' })),
);

describe('what a provider attaches comes back as it came', () => {
  test.each(variants)('$name, $how', async ({ kind, streamed }) => {
    const provider = new AttachingProvider(kind, streamed);
    let answers = 0;
    server.answers = (request) => {
      const refused = provider.refusal(request);
      if (refused) return refused;
      answers += 1;
      if (answers % 3 === 0) return provider.text(`The end ${answers}.`, answers);
      return provider.calls(list, [{}, { path: 'a' }], answers);
    };
    const project = await create(kind.api === undefined ? '' : `, api: ${kind.api}`);
    const first = await bench.begin(project, 'ada');
    await expect(takeTurn(first, 1)).rejects.toThrow(Killed);
    expect(answers).toBe(1);
    await bench.restart(allowing({ baseURL: server.baseURL }));
    const again = await nextAttempt(project, first);
    const text = await takeTurn(again);
    expect(text).toBe('The end 3.');
    expect(provider.refused).toEqual([]);
    await again.report('complete', { output: { text } });

    expect(await takeTurn(await bench.begin(project, 'ada', 'More.'))).toBe('The end 6.');
    expect(provider.refused).toEqual([]);
    expect(server.requests).toHaveLength(6);
  });
});
