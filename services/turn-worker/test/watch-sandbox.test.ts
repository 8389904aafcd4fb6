import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { StopSwitch } from '../src/attempt/stop-switch.js';
import { watchSandbox, type WatchOptions } from '../src/attempt/watch-sandbox.js';

let root: string;
let cache: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'suzumio-watch-'));
  cache = join(root, 'workspace/node_modules');
  for (const path of [cache, join(root, 'own'), join(root, 'turn')]) mkdirSync(path, { recursive: true });
  writeFileSync(join(cache, 'large'), Buffer.alloc(2_000));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** Watches a sandbox whose caches are too large; `kill` ends it, or fails. */
function watch(
  kill: (end: () => void) => Promise<void>,
  { unlinked = 0, free = (): number => 1e12, homeBytes = 1_000 } = {},
) {
  const ended = Promise.withResolvers<{ exitCode: number }>();
  const bounds = { maxBytes: 10_000, maxFileBytes: 10_000, maxEntries: 100 };
  return watchSandbox({
    sandbox: {
      ended: ended.promise,
      kill: () => kill(() => ended.resolve({ exitCode: 137 })),
      unlinkedBytes: () => Promise.resolve(unlinked),
    },
    directory: { path: join(root, 'turn'), watchOutput: () => () => undefined },
    workspace: {
      directory: join(root, 'workspace'),
      ownArtifacts: join(root, 'own'),
      isIgnored: (path: string) => path === 'node_modules',
      bounds,
    },
    home: undefined,
    disk: { add: () => () => undefined, wasShort: false, freeBytes: () => Promise.resolve(free()) },
    stop: new StopSwitch(),
    canMend: false,
    timeoutMs: 100_000,
    limits: { lingerMs: 1_000, sizeCheckMs: 5, maxOutputBytes: 1_000 },
    ofHome: { homeBytes, homeFiles: 10 },
    now: () => performance.now(),
  } as unknown as WatchOptions);
}

describe('caches that have ended a turn', () => {
  test('are removed, so that they do not end the next one', async () => {
    const { tooLarge } = await watch(async (end) => {
      await Promise.resolve();
      end();
    });
    expect(tooLarge).toContain('node_modules');
    expect(existsSync(cache)).toBe(false);
  });

  test('stay where the sandbox could not be killed, which may put a link in their place', async () => {
    await expect(watch(() => Promise.reject(new Error('the engine is away')))).rejects.toThrow('the engine is away');
    expect(existsSync(cache)).toBe(true);
  });
});

test('open files that have no name any more end a turn that holds too much in them', async () => {
  let free = 1e12;
  const { tooLarge } = await watch(
    async (end) => {
      await Promise.resolve();
      end();
    },
    {
      unlinked: 50_000,
      // Written between two looks.
      free: () => (free -= 2_000),
      homeBytes: 1e9,
    },
  );
  expect(tooLarge).toContain('50000 of them in open files that have no name any more');
});
