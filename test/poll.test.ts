import { expect, test } from '@jest/globals';
import { eventually, hanging, hangsMs } from './support/poll.js';

test('a wait that hangs says what for, and the last state', async () => {
  const { message } = await hanging('both run', () => Promise.resolve({ running: ['ada'] }));
  expect(message).toBe(`not within ${String(hangsMs)} ms: both run; last seen:\n{ running: [ 'ada' ] }`);
  expect((await hanging('both run', undefined)).message).toBe(`not within ${String(hangsMs)} ms: both run`);
});

test('of a long output, its end is shown; of a state that cannot be had, why', async () => {
  const output = await hanging('it ends', () => `${'x'.repeat(10_000)} the end`);
  expect(output.message).toMatch(/x the end$/);
  expect(output.message.length).toBeLessThan(4_200);
  const shut = await hanging('it ends', () => {
    throw new TypeError('it is shut');
  });
  expect(shut.message).toContain('it is shut');
});

test('an error of the condition ends the wait at once', async () => {
  const looks: number[] = [];
  const broken = eventually('it holds', () => {
    looks.push(1);
    throw new Error('broken');
  });
  await expect(broken).rejects.toThrow('broken');
  expect(looks).toHaveLength(1);
});
