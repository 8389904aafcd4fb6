import { expect, test } from '@jest/globals';
import { threadAnswer } from '@suzumio/store/thread-answer';

const thread = (source: string) => new URL(`data:text/javascript,${encodeURIComponent(source)}`);
const importPort = `import { parentPort } from 'node:worker_threads';`;

test('nothing of a thread is left once it has answered, whatever it still waits for', async () => {
  // A thread that is left open fails its suite.
  const goesOn = thread(`${importPort} setInterval(() => {}, 1_000); parentPort.postMessage('well');`);
  expect(await threadAnswer(goesOn, undefined)).toBe('well');
});

test('a thread that ends without an answer is an error', async () => {
  await expect(threadAnswer(thread('process.exit(3)'), undefined)).rejects.toThrow(/ended with 3 and no answer/);
  await expect(threadAnswer(thread(`throw new Error('no disk')`), undefined)).rejects.toThrow('no disk');
});
