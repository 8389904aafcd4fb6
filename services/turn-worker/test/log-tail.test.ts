import { expect, test } from '@jest/globals';
import { LogTail } from '../src/engine/log-tail.js';

test('what is kept of a large buffer holds nothing else of it', () => {
  const tail = new LogTail(1_000);
  const come = Buffer.alloc(64 * 1024, 'o');
  tail.write(come.subarray(7, 9));
  // As long as it is held, it is seen.
  come.fill('x');
  expect(tail.bytes().toString()).toBe('oo');
});

test('the end is kept, of pieces of any length', () => {
  const tail = new LogTail(5);
  for (const piece of ['a', 'bcdefghijkl', '', 'mn', 'o']) tail.write(Buffer.from(piece));
  expect(tail.bytes().toString()).toBe('klmno');
});
