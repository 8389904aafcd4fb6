import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { event } from '../../test/support/model-server.js';
import { eventually } from '../../test/support/poll.js';
import { type CliWorld, createCliWorld, printed } from './support/cli.js';

let world: CliWorld;
let provider: Server;
let asked: PromiseWithResolvers<ServerResponse>;
let baseURL: string;
beforeEach(async () => {
  asked = Promise.withResolvers();
  provider = createServer((request, response) => {
    text(request).then(() => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
      asked.resolve(response);
    }, asked.reject);
  });
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
  baseURL = `http://127.0.0.1:${String((provider.address() as AddressInfo).port)}/v1`;
  world = await createCliWorld({
    policy: `backends: [process]\nproviders: [{ baseURL: '${baseURL}' }]\n`,
  });
});
afterEach(async () => {
  provider.closeAllConnections();
  await new Promise((resolve) => provider.close(resolve));
  await world.remove();
});

const say = (response: ServerResponse, content: string) =>
  response.write(`${event({ choices: [{ index: 0, delta: { content } }] })}\n\n`);
const finish = (response: ServerResponse) =>
  response.end(`${event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })}\n\ndata: [DONE]\n\n`);

const thinker = () => `
name: think
task: Think.
backend:
  kind: process
  runner:
    mode: ai
    model: only
    models:
      providers: { one: { type: openai-compatible, baseURL: "${baseURL}" } }
      presets: { only: { provider: one, model: m } }
agents:
  ada: { role: thinker, prompt: Think., tools: [] }
`;

async function up(project: string) {
  const serving = world.begin('up', await world.write('team.yaml', project), '--port', '0');
  await printed(serving, 'started');
  return serving;
}

describe('what a model answers', () => {
  test('is seen by logs -f and watch --live before the answer is complete', async () => {
    const serving = await up(thinker());
    const watching = world.begin('watch', 'think', '--live', '--limit', '0');
    await world.run('send', 'think', 'ada', 'P1', 'Well?');
    const saying = await asked.promise;
    const logs = world.begin('logs', 'think', 'ada:1', '-f');
    await eventually(
      'both follow',
      () => {
        say(saying, 'Half of it.\n');
        return logs.out.includes('Half of it.') && watching.out.includes('ada:1 | Half of it.');
      },
      { show: () => `${logs.out}${logs.err}${watching.out}${watching.err}` },
    );
    say(saying, 'The rest.\n');
    finish(saying);
    expect(await logs.ended).toMatchObject({
      code: 0,
      out: expect.stringMatching(/== ada:1, as it runs\n[^]*The rest\.\n$/),
    });
    await printed(watching, 'turn 1 done');
    expect(watching.out.indexOf('ada:1 | The rest.')).toBeLessThan(watching.out.indexOf('turn 1 done'));
    await watching.stop();
    await serving.stop();
  });
});

const printer = (stop: string) => `
name: build
task: Build.
backend:
  kind: process
  runner:
    mode: mock
    script:
      - agent: ada
        steps:
          - run: { command: 'i=0; while [ ! -e ${stop} ] && [ $i -lt 3000 ]; do echo "building $i"; i=$((i+1)); sleep 0.1; done; echo built' }
agents:
  ada: { role: builder, prompt: Build., tools: [] }
`;

describe('what a command prints', () => {
  test('is seen while it runs, and its log is the same as always', async () => {
    const serving = await up(printer(join(world.directory, 'stop')));
    await world.run('send', 'build', 'ada', 'P1', 'Please build.');
    await printed(serving, 'turn 1 started');
    const logs = world.begin('logs', 'build', 'ada:1', '-f');
    await eventually('it is seen', () => (logs.out.match(/^building \d+$/gm)?.length ?? 0) > 3, {
      show: () => `${logs.out}${logs.err}`,
    });
    await world.write('stop', '');
    expect(await logs.ended).toMatchObject({ code: 0, out: expect.stringContaining('building') });
    const log = (await world.run('logs', 'build', 'ada:1')).out;
    expect(log.match(/^building \d+$/gm)?.slice(0, 3)).toEqual(['building 0', 'building 1', 'building 2']);
    expect(log).toContain('built');
    await serving.stop();
  });
});
