import { EventEmitter } from 'node:events';
import { expect, test } from '@jest/globals';
import { interruptionOf } from '../src/interruption.js';

test('a press that comes twice is one; the next one insists, and the one after that ends the process', () => {
  const process = new EventEmitter();
  let nowMs = 1_000;
  const done: string[] = [];
  const { signal, onInsistence } = interruptionOf(process, { now: () => nowMs, end: () => done.push('ended') });
  onInsistence(() => done.push('insisted'));
  process.emit('SIGINT');
  process.emit('SIGINT');
  expect(signal.aborted).toBe(true);
  nowMs += 400;
  process.emit('SIGINT');
  expect(done).toEqual([]);
  nowMs += 600;
  process.emit('SIGTERM');
  process.emit('SIGINT');
  expect(done).toEqual(['insisted']);
  nowMs += 600;
  process.emit('SIGINT');
  expect(done).toEqual(['insisted', 'ended']);
});
