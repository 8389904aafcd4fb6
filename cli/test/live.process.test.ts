import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { eventually } from '../../test/support/poll.js';
import { finish, say, startToldProvider, type ToldProvider } from '../../test/support/told-provider.js';
import { type CliWorld, createCliWorld, printed } from './support/cli.js';

let world: CliWorld;
let provider: ToldProvider;
beforeEach(async () => {
  provider = await startToldProvider();
  world = await createCliWorld({
    policy: `backends: [process]\nproviders: [{ baseURL: '${provider.baseURL}' }]\n`,
  });
});
afterEach(async () => {
  await provider.close();
  await world.remove();
});

const thinker = () => `
name: think
task: Think.
backend:
  kind: process
  runner:
    mode: ai
    model: only
    models:
      providers: { one: { type: openai-compatible, baseURL: "${provider.baseURL}" } }
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
    const saying = await provider.asked;
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
