import { describe, expect, test } from '@jest/globals';
import {
  encodeFrame,
  type Frame,
  FrameDecoder,
  frameTypes,
  maxFramePayloadBytes,
} from '@suzumio/protocol/stdio-frame-codec';
import fc from '../../../test/support/fast-check.js';

const u32 = fc.nat({ max: 0xffff_ffff });
/** Plain noise, and bytes that are mostly zeros or hold long runs without one: where byte stuffing has its edges. */
const payload = fc
  .oneof(
    fc.uint8Array({ maxLength: 2000 }),
    fc.array(fc.constantFrom(0, 0, 1, 255), { maxLength: 2000 }),
    fc.nat({ max: 1100 }).map((length) => new Uint8Array(length).fill(7)),
  )
  .map((bytes) => Buffer.from(bytes));
const frame: fc.Arbitrary<Frame> = fc.record({
  type: fc.constantFrom(...Object.values(frameTypes)),
  stream: u32,
  number: u32,
  payload,
});
const garbage = fc.uint8Array({ maxLength: 400 }).map((bytes) => Buffer.from(bytes));

/** Decodes `bytes` in chunks of the given sizes, over and over. */
function decode(bytes: Buffer, sizes: readonly number[] = [bytes.length]): Frame[] {
  const decoder = new FrameDecoder();
  const frames: Frame[] = [];
  for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
    const size = Math.max(1, sizes[turn % sizes.length] ?? 1);
    frames.push(...decoder.decode(bytes.subarray(at, at + size)));
    at += size;
  }
  return frames;
}

describe('frames', () => {
  test('come out as they went in, however the bytes are cut into chunks', () => {
    fc.assert(
      fc.property(
        fc.array(frame, { maxLength: 8 }),
        fc.array(fc.integer({ min: 1, max: 700 }), { minLength: 1 }),
        (frames, sizes) => {
          expect(decode(Buffer.concat(frames.map(encodeFrame)), sizes)).toEqual(frames);
        },
      ),
    );
  });

  test('hold zero bytes at their edges only', () => {
    fc.assert(
      fc.property(frame, (one) => {
        const bytes = encodeFrame(one);
        expect(bytes.indexOf(0, 1)).toBe(bytes.length - 1);
        expect(bytes[0]).toBe(0);
      }),
    );
  });

  test('are found whole between any garbage', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(garbage, frame), { maxLength: 6 }), garbage, (pairs, tail) => {
        const bytes = Buffer.concat([...pairs.flatMap(([noise, one]) => [noise, encodeFrame(one)]), tail]);
        expect(decode(bytes)).toEqual(pairs.map(([, one]) => one));
      }),
    );
  });

  test('that lie behind a cut are found, wherever the cut is', () => {
    fc.assert(
      fc.property(fc.array(frame, { minLength: 1, maxLength: 5 }), fc.nat(), (frames, at) => {
        const encoded = frames.map(encodeFrame);
        const bytes = Buffer.concat(encoded);
        const cut = at % (bytes.length + 1);
        let start = 0;
        const behind = encoded.flatMap((part, index) => {
          const begin = start;
          start += part.length;
          // The leading zero byte is only a separator: without it the frame is whole still.
          return begin + 1 >= cut ? [frames[index]] : [];
        });
        expect(decode(bytes.subarray(cut))).toEqual(behind);
      }),
    );
  });

  test('that were damaged are dropped, and only they', () => {
    fc.assert(
      fc.property(
        frame,
        frame,
        frame,
        fc.nat(),
        fc.integer({ min: 1, max: 255 }),
        (before, damaged, after, at, mask) => {
          const bytes = encodeFrame(damaged);
          const index = 1 + (at % (bytes.length - 2));
          bytes[index] = (bytes[index] ?? 0) ^ mask;
          expect(decode(Buffer.concat([encodeFrame(before), bytes, encodeFrame(after)]))).toEqual([before, after]);
        },
      ),
    );
  });

  test('of the largest size pass; anything longer is skipped without being kept', () => {
    const largest = { type: frameTypes.data, stream: 1, number: 0, payload: Buffer.alloc(maxFramePayloadBytes, 9) };
    const endless = Buffer.alloc(10 * maxFramePayloadBytes, 9);
    expect(decode(Buffer.concat([endless, encodeFrame(largest), endless, encodeFrame(largest)]), [5000])).toEqual([
      largest,
      largest,
    ]);
    expect(() => encodeFrame({ ...largest, payload: Buffer.alloc(maxFramePayloadBytes + 1) })).toThrow(RangeError);
  });
});
