import { PassThrough } from 'node:stream';
import type { Container } from 'dockerode';
import { expect, test } from '@jest/globals';
import { createLogger } from '@suzumio/runtime/observability/logger';
import { StdioAttachment } from '../src/engine/docker/stdio-attachment.js';
import { until } from './support/until.js';

const logger = createLogger({ service: 'test', level: 'silent' });

/** An attachment whose second connection the engine gives when `answer` is called. */
async function reattaching(answers: 'when asked' | 'never') {
  const first = new PassThrough();
  const second = new PassThrough();
  let attached = 0;
  let answer: (() => void) | undefined;
  const attach = ({ abortSignal }: { abortSignal: AbortSignal }) => {
    attached += 1;
    if (attached === 1) return Promise.resolve(first);
    return new Promise((resolve, reject) => {
      answer = () => resolve(second);
      if (answers === 'never') abortSignal.addEventListener('abort', () => reject(new Error('aborted')));
    });
  };
  const attachment = new StdioAttachment({
    container: { attach } as unknown as Container,
    ended: new Promise(() => undefined),
    onConnection: () => undefined,
    onLog: () => undefined,
    logger,
  });
  await attachment.open();
  first.destroy();
  await until(() => answer !== undefined, 'the second attaching');
  return { attachment, second, answer: () => answer?.() };
}

test('closing does not wait for an engine that does not answer', async () => {
  const { attachment } = await reattaching('never');
  await attachment.close();
});

test('a connection that comes after the end is not read', async () => {
  const { attachment, second, answer } = await reattaching('when asked');
  const closed = attachment.close();
  setTimeout(answer, 1_500);
  await closed;
  expect(second.destroyed).toBe(true);
});
