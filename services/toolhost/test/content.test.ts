import { stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { ContentStore } from '@suzumio/store/content/content-store';
import { type ToolhostBench, toolhostBench } from './toolhost-client.js';

let bench: ToolhostBench;
beforeEach(async () => {
  bench = await toolhostBench();
});
afterEach(() => bench.close());

test('content that a worker asks for, so as not to send it again, is kept for another day', async () => {
  const project = await bench.testing.create();
  const { turn, answer } = await bench.begin(project, 'ada');
  const directory = bench.testing.cell.directory.projectDir(project);
  const content = new ContentStore(directory);
  const hash = await content.putBytes(Buffer.from('a file of an earlier turn'));
  const file = join(directory, content.pathOf(hash));
  const ask = (method: string) =>
    fetch(`${bench.toolhost.workerUrl}/projects/${project}/turns/${turn}/attempts/1/content/${hash}`, {
      method,
      headers: { authorization: `Bearer ${answer.leaseToken}` },
    });
  await utimes(file, 0, 0);
  expect(await (await ask('GET')).text()).toBe('a file of an earlier turn');
  expect((await stat(file)).mtimeMs).toBe(0);
  const head = await ask('HEAD');
  expect([head.status, head.headers.get('content-length')]).toEqual([200, '25']);
  expect((await stat(file)).mtimeMs).toBeGreaterThan(Date.now() - 60_000);
});
