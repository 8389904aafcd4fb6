import type { Container } from 'dockerode';
import { describe, expect, test } from '@jest/globals';
import { DockerSandbox } from '../src/engine/docker/docker-sandbox.js';

/** A container that notes what is asked of it. */
function sandboxOf(pauses: boolean, unpause: () => Promise<void> = () => Promise.resolve()) {
  const asked: string[] = [];
  const noted = (what: string, then: () => Promise<void>) => () => {
    asked.push(what);
    return then();
  };
  const container = {
    id: 'one',
    pause: noted('pause', () => Promise.resolve()),
    unpause: noted('unpause', unpause),
  } as unknown as Container;
  const sandbox = new DockerSandbox({
    container,
    ended: new Promise(() => undefined),
    disturbed: new AbortController().signal,
    look: () => Promise.resolve(),
    unlinkedBytes: () => Promise.resolve(0),
    maxLogBytes: 1,
    pauses,
    wrapped: false,
    release: () => undefined,
  });
  const work = () => {
    asked.push('work');
    return Promise.resolve('done');
  };
  return { sandbox, asked, work };
}

const refusal = (statusCode: number) => () => Promise.reject(Object.assign(new Error('refused'), { statusCode }));

describe('reading the files of a running container', () => {
  test('goes on beside its programs where the host looks by descriptors', async () => {
    const { sandbox, asked, work } = sandboxOf(false);
    expect(await sandbox.whileReadable(work)).toBe('done');
    expect(asked).toEqual(['work']);
  });

  test('pauses them elsewhere, and lets them go on also when it fails', async () => {
    const { sandbox, asked, work } = sandboxOf(true);
    expect(await sandbox.whileReadable(work)).toBe('done');
    await expect(sandbox.whileReadable(() => Promise.reject(new Error('no room')))).rejects.toThrow('no room');
    expect(asked).toEqual(['pause', 'work', 'unpause', 'pause', 'unpause']);
  });

  test('does not mind a container that was killed meanwhile', async () => {
    expect(await sandboxOf(true, refusal(409)).sandbox.whileReadable(() => Promise.resolve('done'))).toBe('done');
    await expect(sandboxOf(true, refusal(500)).sandbox.whileReadable(() => Promise.resolve())).rejects.toThrow(
      'unpause',
    );
  });
});
