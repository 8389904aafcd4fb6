import { afterEach, expect, test } from '@jest/globals';
import { PackInspector } from '../../src/packs/pack-inspector.js';

/** A thread for which the path of a pack says what comes of it. */
const thread = new URL(
  `data:text/javascript,${encodeURIComponent(`
  import { parentPort, workerData } from 'node:worker_threads';
  const { path } = workerData;
  if (path !== 'silent') parentPort.postMessage(path === 'broken' ? { invalid: 'is none' } : { objects: 1 });
  else setInterval(() => undefined, 1000);
`)}`,
);

let packs = new PackInspector(thread);
afterEach(async () => {
  await packs.close();
  packs = new PackInspector(thread);
});

test('a project with many packs keeps another one waiting for one of them', async () => {
  const order: string[] = [];
  const inspect = (project: string, attempt: string) =>
    packs.inspect(project, 'fine', attempt).then(() => order.push(attempt));
  await Promise.all([...['a1', 'a2', 'a3', 'a4'].map((attempt) => inspect('a', attempt)), inspect('b', 'b1')]);
  expect(order).toEqual(['a1', 'b1', 'a2', 'a3', 'a4']);
});

test('one that is none keeps nobody from the next', async () => {
  const [broken, fine] = await Promise.allSettled([packs.inspect('a', 'broken', '1'), packs.inspect('a', 'fine', '2')]);
  expect(broken).toMatchObject({ reason: { code: 'git-pack-invalid', message: 'The pack is none.' } });
  expect(fine).toEqual({ status: 'fulfilled', value: 1 });
});

test('an attempt has one at a time, and all end with the inspector', async () => {
  const first = packs.inspect('a', 'silent', '1');
  const second = packs.inspect('b', 'fine', '2');
  await expect(packs.inspect('a', 'fine', '1')).rejects.toMatchObject({ code: 'attempt-busy' });
  const ended = Promise.allSettled([first, second]);
  await packs.close();
  expect(await ended).toEqual([
    { status: 'rejected', reason: expect.objectContaining({ code: 'server-unreachable' }) },
    { status: 'rejected', reason: expect.objectContaining({ code: 'server-unreachable' }) },
  ]);
});
