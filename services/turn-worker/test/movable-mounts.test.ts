import { describe, expect, test } from '@jest/globals';
import { movableMounts } from '../src/engine/docker/movable-mounts.js';

const reads = (source: string) => ({ source, target: '/data' });
const writes = (source: string) => ({ source, target: '/data', writable: true });
const other = (mount: ReturnType<typeof writes> | ReturnType<typeof reads>, isStarting = false) => ({
  id: 'other',
  isStarting,
  mounts: [writes('/w/turns/t'), mount],
});

describe('the source of a mount', () => {
  test.each([
    ['below what another one writes', reads('/p/sub'), other(writes('/p')), { movable: '/p/sub', movesOthers: false }],
    ['far below it', writes('/p/a/b'), other(writes('/p')), { movable: '/p/a/b', movesOthers: false }],
    [
      'below what one that starts will write',
      reads('/p/sub'),
      other(writes('/p'), true),
      { movable: '/p/sub', movesOthers: false },
    ],
    ['below what another one reads', reads('/p/sub'), other(reads('/p')), { movesOthers: false }],
    ['that another one writes in, too', writes('/p'), other(writes('/p')), { movesOthers: false }],
    ['beside it, with a name that begins alike', reads('/pp'), other(writes('/p')), { movesOthers: false }],
    ['above what another one has mounted', writes('/p'), other(reads('/p/sub')), { movesOthers: false }],
    ['above what another one is about to mount', writes('/p'), other(reads('/p/sub'), true), { movesOthers: true }],
    ['above that, and only read', reads('/p'), other(reads('/p/sub'), true), { movesOthers: false }],
  ])('%s', (_where, mount, beside, expected) => {
    expect(movableMounts([writes('/w/turns/own'), mount], [beside])).toEqual(expected);
  });
});
