import { expect, test } from '@jest/globals';
import { eventually, heldWithin, soon } from './support/poll.js';

const failing = (show?: () => unknown) => heldWithin(20, 'both run', () => false, { show });

test('a wait that hangs says what for, and the last state', async () => {
  await expect(failing(() => Promise.resolve({ running: ['ada'] }))).rejects.toThrow(
    /^not within 20 ms: both run; last seen:\n\{ running: \[ 'ada' \] \}$/,
  );
  await expect(failing()).rejects.toThrow(/^not within 20 ms: both run$/);
});

test('a condition that does not answer hangs, too', async () => {
  const never = new Promise<boolean>(() => undefined);
  await expect(heldWithin(20, 'both run', () => never, { show: () => 'Nothing.' })).rejects.toThrow('seen:\nNothing.');
});

test('of a long output, its end is shown; of a state that cannot be had, why', async () => {
  await expect(failing(() => `${'x'.repeat(10_000)} the end`)).rejects.toThrow(/seen:\nx{3992} the end$/);
  const shut = () => {
    throw new TypeError('it is shut');
  };
  await expect(failing(shut)).rejects.toThrow('it is shut');
});

test('an error of the condition ends the wait at once', async () => {
  let looks = 0;
  const broken = eventually('it holds', () => {
    looks += 1;
    throw new Error('broken');
  });
  await expect(broken).rejects.toThrow('broken');
  expect(looks).toBe(1);
});

test('what comes to hold ends it', async () => {
  let looks = 0;
  await eventually('it holds', () => Promise.resolve((looks += 1) === 3));
  expect(looks).toBe(3);
});

test('expectations that come true are waited for; those that do not fail as they are', async () => {
  let looks = 0;
  await soon(() => expect((looks += 1)).toBeGreaterThan(2));
  expect(looks).toBe(3);
  await expect(soon(() => expect('seen').toBe('wanted'), 50)).rejects.toThrow(/Expected: "wanted"\s+Received: "seen"/);
});
