import { deflateSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { inspectPack } from '../../src/git/inspect-pack.js';
import { sealed } from '../support/packs.js';

describe('a pack', () => {
  /** An object's header: its type and its size. */
  const head = (type: number, size: number) => {
    const bytes = [(type << 4) | (size % 16)];
    for (let rest = Math.floor(size / 16); rest > 0; rest = Math.floor(rest / 128)) {
      bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) | 0x80;
      bytes.push(rest % 128);
    }
    return Buffer.from(bytes);
  };
  const blob = (bytes: Buffer, size = bytes.length) => Buffer.concat([head(3, size), deflateSync(bytes)]);
  const text = blob(Buffer.from('0123456789'));
  const deltaOf = (offset: number, delta: number[]) =>
    Buffer.concat([head(6, delta.length), Buffer.from([offset]), deflateSync(Buffer.from(delta))]);

  test('is taken, and one with a delta that fits', () => {
    expect(inspectPack(sealed(text, 1))).toBe(1);
    expect(inspectPack(sealed(Buffer.concat([text, deltaOf(text.length, [10, 4, 0x90, 3, 1, 65])]), 2))).toBe(2);
  });

  test.each<[string, () => Buffer, RegExp]>([
    ['is text', () => Buffer.from('#!/bin/sh\ntouch /tmp/x\n'.repeat(4)), /is none/],
    ['is empty', () => sealed(Buffer.alloc(0), 0), /no objects/],
    ['names objects that are not there', () => sealed(text, 2), /ends too early/],
    ['names more objects than one may have', () => sealed(text, 0xffff_ffff), /more than 500000 objects/],
    ['was cut', () => sealed(text, 1).subarray(0, -4), /not whole/],
    ['has more in it', () => sealed(Buffer.concat([text, Buffer.from('x')]), 1), /more in it/],
    ['unpacks to more than it says', () => sealed(blob(Buffer.alloc(1 << 20), 10), 1), /cannot be unpacked/],
    ['unpacks to less than it says', () => sealed(blob(Buffer.alloc(10), 11), 1), /cannot be unpacked/],
    ['has a huge object', () => sealed(blob(Buffer.alloc(10), 2 ** 40), 1), /more than 268435456 bytes/],
    ['has a size without end', () => sealed(Buffer.alloc(40, 0xff), 1), /a size that no object has|ends too early/],
    [
      'is a delta against what is elsewhere',
      () => sealed(Buffer.concat([head(7, 3), Buffer.alloc(20), deflateSync(Buffer.from([1, 1, 65]))]), 1),
      /not in it/,
    ],
    [
      'is a delta against nothing',
      () => sealed(Buffer.concat([text, deltaOf(5, [10, 1, 1, 65])]), 2),
      /against no object/,
    ],
    [
      'is a delta for another object',
      () => sealed(Buffer.concat([text, deltaOf(text.length, [11, 1, 1, 65])]), 2),
      /another object/,
    ],
    [
      'is a delta that copies too much',
      () => sealed(Buffer.concat([text, deltaOf(text.length, [10, 9, 0x91, 5, 9])]), 2),
      /not there/,
    ],
    [
      'is a delta that makes more',
      () => sealed(Buffer.concat([text, deltaOf(text.length, [10, 1, 0x90, 3])]), 2),
      /another size/,
    ],
    [
      'is a delta that makes a huge object',
      () => sealed(Buffer.concat([text, deltaOf(text.length, [10, 0xff, 0xff, 0xff, 0xff, 0x7f])]), 2),
      /another size|more than/,
    ],
  ])('that %s is refused', (_what, pack, why) => {
    expect(() => inspectPack(pack())).toThrow(why);
  });

  test('unpacks to no more than is allowed, all of it together', () => {
    const zeros = blob(Buffer.alloc(1000));
    const bounds = { objects: 10, objectBytes: 1000, unpackedBytes: 2500 };
    expect(inspectPack(sealed(Buffer.concat([zeros, zeros]), 2), bounds)).toBe(2);
    expect(() => inspectPack(sealed(Buffer.concat([zeros, zeros, zeros]), 3), bounds)).toThrow(
      /unpacks to more than 2500/,
    );
  });
});
