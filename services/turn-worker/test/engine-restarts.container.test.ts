import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { baseImage } from './support/images.js';
import { OwnEngine } from './support/own-engine.js';
import { until } from './support/until.js';
import { World } from './support/world.js';

/** Only root may start an engine, and only on Linux. */
const canStart = process.platform === 'linux' && process.getuid?.() === 0;

(canStart ? describe : describe.skip)('an engine of its own', () => {
  let engine: OwnEngine;
  let world: World;
  let image: string;

  beforeAll(async () => {
    engine = await OwnEngine.open();
    await engine.copyImage(baseImage);
    const container = await engine.docker.createContainer({ Image: baseImage, Cmd: ['none'], NetworkDisabled: true });
    const changes = 'CMD ["node", "/workspace/agent.mjs"]\nLABEL suzumio.runner=1';
    await container.commit({ repo: 'suzumio-test-agent', tag: 'dev', changes });
    await container.remove();
    image = 'suzumio-test-agent:dev';
    world = await World.open({ settings: { dockerSocket: engine.socket } });
  });

  afterAll(async () => {
    await world.close();
    await engine.close();
  });

  const polite = `setInterval(() => {}, 1000);`;
  const deaf = `process.on('SIGTERM', () => {}); ${polite}`;

  test.each([
    ['told to stop', 'SIGTERM', polite],
    ['told to stop, by a turn that does not listen', 'SIGTERM', deaf],
    ['killed', 'SIGKILL', polite],
  ] as const)('that is %s and starts again costs a turn an attempt, and no more', async (_how, signal, program) => {
    const said = { show: () => world.lines.slice(-30) };
    await until(() => world.worker.ready, 'the worker to be ready', said);
    const turn = await world.give({ image, program });
    await until(
      async () =>
        (await engine.docker.listContainers({ filters: { label: [`suzumio.turn=${turn.answer.input.turn.id}`] } }))
          .length > 0,
      'a running container',
      said,
    );
    await engine.end(signal);
    await engine.start();
    await until(() => turn.endedAt !== undefined, 'the end of the turn', said);
    expect(turn.failed?.failure).toMatchObject({ code: 'container-killed' });
  });
});
