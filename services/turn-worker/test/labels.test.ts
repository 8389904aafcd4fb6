import { describe, expect, test } from '@jest/globals';
import { isLater } from '../src/engine/docker/labels.js';

describe('of two attempts of an agent the later one is that', () => {
  const place = { epoch: 2, turnNumber: 7, attempt: 3 };
  const labels = (epoch: number, turnNumber: number, attempt: number) => ({
    'suzumio.epoch': String(epoch),
    'suzumio.turn-number': String(turnNumber),
    'suzumio.attempt': String(attempt),
  });
  test.each([
    ['of a later attempt of the turn', labels(2, 7, 4), true],
    ['of a later turn', labels(2, 8, 1), true],
    ['of a later project of the name', labels(3, 1, 1), true],
    ['the same', labels(2, 7, 3), false],
    ['of an earlier attempt', labels(2, 7, 2), false],
    ['of an earlier turn with more attempts', labels(2, 6, 9), false],
    ['of an earlier project with more turns', labels(1, 99, 9), false],
    ['of a release that did not say', {}, false],
  ])('%s', (_what, of, later) => {
    expect(isLater(of, place)).toBe(later);
  });
});
