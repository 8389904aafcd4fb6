import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { freePort } from '../../test/support/free-port.js';
import { type CliWorld, createCliWorld, notesProject } from './support/cli.js';

let world: CliWorld;
beforeEach(async () => {
  world = await createCliWorld();
});
afterEach(() => world.remove());

test('handlers find the ToolHost at the port that serve is given', async () => {
  await world.run('init', await world.write('notes.yaml', notesProject('notes')));
  const bound = ['--scope', 'handler', '--project', 'notes', '--agents', 'writer'];
  const { out: secret } = await world.run('tokens', 'create', 'desk', ...bound);
  const port = String(await freePort());
  world.setEnvironment({ SUZUMIO_TOOLHOST_WORKER_PORT: port });
  await world.serve();
  const answer = await fetch(`http://127.0.0.1:${port}/handlers/self`, {
    headers: { authorization: `Bearer ${secret.trim()}` },
  });
  expect(await answer.json()).toEqual({ protocol: 1, project: 'notes', agents: ['writer'] });
});

test('without a port of their own two servers listen for handlers, and print where', async () => {
  await world.run('init', await world.write('notes.yaml', notesProject('notes')));
  const others = await createCliWorld();
  try {
    const [one, other] = [await world.serve(), await others.serve()].map(
      ({ out }) => /^handler: +(http:\S+)/m.exec(out)?.[1] ?? '',
    );
    expect(new Set([one, other]).size).toBe(2);
    for (const url of [one, other]) expect((await fetch(`${url}/handlers/self`)).status).toBe(401);
    const bound = ['--scope', 'handler', '--project', 'notes', '--agents', 'writer'];
    expect((await world.run('tokens', 'create', 'desk', ...bound)).err).toContain(`of the handler: ${one}.`);
    expect((await world.run('why', 'notes', 'writer')).code).toBe(0);
  } finally {
    await others.remove();
  }
});

test('a port that is none is told', async () => {
  world.setEnvironment({ SUZUMIO_TOOLHOST_WORKER_PORT: '39410x' });
  const { code, err } = await world.run('serve', '--port', '0');
  expect(code).not.toBe(0);
  expect(err).toContain('SUZUMIO_TOOLHOST_WORKER_PORT is "39410x", not a port.');
});
