import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { SizeWatch } from '../src/attempt/size-watch.js';
import { until } from './support/until.js';

const mib = 1024 * 1024;
const bounds = { maxBytes: 8 * mib, maxEntries: 100 };

let directory: string;
let watch: SizeWatch;
let free: number;
let unlinked: number;
let looks: number;
let counts: number;
let tooLarge: string | undefined;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'suzumio-watch-'));
  [free, unlinked, looks, counts, tooLarge] = [1000 * mib, 0, 0, 0, undefined];
});
afterEach(async () => {
  await watch.stop();
  await rm(directory, { recursive: true });
});

function begin(endsAt?: typeof bounds): void {
  watch = new SizeWatch({
    directories: () => [directory],
    bounds,
    endsAt,
    unlinked: {
      bytes: () => {
        counts += 1;
        return Promise.resolve(unlinked);
      },
      freeBytes: () => Promise.resolve(free),
    },
    everyMs: 2,
    now: () => performance.now(),
    onTooLarge: (why) => (tooLarge = why),
    onMeasured: () => (looks += 1),
  });
}

/** A program writes to a file that has no name any more. */
function take(bytes: number): void {
  unlinked += bytes;
  free -= bytes;
}

describe('open files that have no name any more', () => {
  const ended = () => until(() => tooLarge !== undefined, 'the sandbox is ended');
  const looked = (more: number) => {
    const before = looks;
    return until(() => looks >= before + more, 'the directories are measured');
  };

  test('end a sandbox that holds more than it may with them', async () => {
    begin();
    await looked(2);
    expect(counts).toBe(0);
    take(9 * mib);
    await ended();
    expect(tooLarge).toBe(
      `more than ${bounds.maxBytes} bytes, ${9 * mib} of them in open files that have no name any more`,
    );
  });

  test('end a sandbox that has more open files than are looked at', async () => {
    begin();
    await looked(1);
    take(9 * mib);
    unlinked = Infinity;
    await ended();
    expect(tooLarge).toBe(
      `more than ${bounds.maxBytes} bytes, or so it may be: it has more open files than are looked at`,
    );
  });

  test('count together with the others, at any later look', async () => {
    begin();
    await looked(1);
    take(5 * mib);
    await looked(3);
    expect([counts, tooLarge]).toEqual([1, undefined]);
    await writeFile(join(directory, 'file'), Buffer.alloc(4 * mib));
    await ended();
    expect(tooLarge).toContain(`${5 * mib} of them`);
  });

  test('are no model’s to mend: the workspace’s own bounds hold for them', async () => {
    begin({ maxBytes: 100 * mib, maxEntries: 1000 });
    await looked(1);
    take(9 * mib);
    await ended();
  });

  test('are forgotten once they are closed', async () => {
    begin();
    await looked(1);
    take(5 * mib);
    await looked(2);
    take(-5 * mib);
    await writeFile(join(directory, 'file'), Buffer.alloc(4 * mib));
    await looked(3);
    expect(tooLarge).toBeUndefined();
  });

  test('are not counted while nothing is taken of the disk: that may cost a container', async () => {
    begin();
    await looked(5);
    take(mib / 2);
    await looked(5);
    expect(counts).toBe(0);
  });
});
