import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { inspectPack } from '../../src/packs/inspect-pack.js';
import { blob, deltaOf, head, sealed, varint } from '../support/packs.js';

describe('a pack', () => {
  let base: string;
  beforeAll(() => {
    base = mkdtempSync(join(tmpdir(), 'suzumio-pack-'));
  });
  afterAll(() => {
    rmSync(base, { recursive: true, force: true });
  });

  const inspect = (pack: Buffer, bounds?: Parameters<typeof inspectPack>[1]) => {
    const path = join(base, 'pack');
    writeFileSync(path, pack);
    return inspectPack(path, bounds);
  };
  const packOf = (...objects: Buffer[]) => sealed(Buffer.concat(objects), objects.length);
  const text = blob(Buffer.from('0123456789'));
  const withDelta = (delta: number[]) => packOf(text, deltaOf(text.length, delta));
  const mib = Buffer.alloc(1 << 20);

  /** A delta that is read in pieces, in which commands begin anywhere. */
  const long = (says: (makes: number) => number = (makes) => makes) => {
    const commands: number[] = [];
    let makes = 0;
    for (let number = 0; commands.length < 300_000; number += 1) {
      const [inserted, copied] = [(number % 127) + 1, (number % 4) + 1];
      commands.push(inserted, ...Array<number>(inserted).fill(0), 0x91, number % 7, copied);
      makes += inserted + copied;
    }
    return [10, ...varint(says(makes)), ...commands];
  };

  test('is taken, and one with deltas that fit, and one with large objects', async () => {
    expect(await inspect(packOf(text))).toBe(1);
    expect(await inspect(withDelta([10, 4, 0x90, 3, 1, 65]))).toBe(2);
    expect(await inspect(withDelta(long()))).toBe(2);
    const sizes = [0, 65_536, 65_537, 1 << 20, 3];
    expect(await inspect(packOf(...sizes.map((size) => blob(randomBytes(size)))))).toBe(5);
  });

  test.each<[string, () => Buffer, RegExp]>([
    ['is text', () => Buffer.from('#!/bin/sh\ntouch /tmp/x\n'.repeat(4)), /is none/],
    ['is shorter than a trailer', () => Buffer.from('PACK'), /is none/],
    ['is of another version', () => packOf(text).fill(3, 7, 8), /not whole/],
    ['is empty', () => packOf(), /no objects/],
    ['names objects that are not there', () => sealed(text, 2), /number 2 of 2, at byte 31\) that ends too early/],
    [
      'names more objects than one may have',
      () => sealed(text, 0xffff_ffff),
      /has 4294967295 objects, and may have 500000: push/,
    ],
    ['was cut', () => packOf(text).subarray(0, -4), /not whole/],
    ['has more in it', () => sealed(Buffer.concat([text, Buffer.from('x')]), 1), /more in it/],
    ['unpacks to more than it says', () => packOf(blob(mib, 10)), /cannot be unpacked/],
    ['unpacks to a little more', () => packOf(blob(mib, mib.length - 1)), /cannot be unpacked/],
    ['unpacks to less than it says', () => packOf(blob(Buffer.alloc(10), 11)), /cannot be unpacked/],
    ['unpacks to a little less', () => packOf(blob(mib, mib.length + 1)), /cannot be unpacked/],
    ['has a large object that was cut', () => packOf(blob(randomBytes(1 << 20)).subarray(0, -1)), /cannot be unpacked/],
    ['has nothing of a large object', () => packOf(head(3, 1 << 20)), /ends too early/],
    [
      'has a huge object',
      () => packOf(blob(Buffer.alloc(10), 2 ** 40)),
      /number 1 of 1, at byte 12\) that has 1099511627776 bytes, and may have 268435456: leave/,
    ],
    ['has a size without end', () => packOf(Buffer.alloc(40, 0xff)), /a size that no object has|ends too early/],
    [
      'is a delta against what is elsewhere',
      () => packOf(Buffer.concat([head(7, 3), Buffer.alloc(20), deflateSync(Buffer.from([1, 1, 65]))])),
      /not in the pack/,
    ],
    ['is a delta against nothing', () => packOf(text, deltaOf(5, [10, 1, 1, 65])), /against no object/],
    ['is a delta for another object', () => withDelta([11, 1, 1, 65]), /another object/],
    ['is a delta that copies too much', () => withDelta([10, 9, 0x91, 5, 9]), /not there/],
    ['is a delta that makes more', () => withDelta([10, 1, 0x90, 3]), /another size/],
    ['is a delta that says nothing', () => withDelta([10]), /ends too early/],
    [
      'is a delta that makes a huge object',
      () => withDelta([10, 0xff, 0xff, 0xff, 0xff, 0x7f]),
      /another size|may have/,
    ],
    ['is a long delta that makes more', () => withDelta(long((makes) => makes - 1)), /another size/],
    ['is a long delta that was cut', () => withDelta(long().slice(0, -1)), /ends too early/],
    ['is a long delta with an unknown command', () => withDelta([...long(), 0]), /unknown command/],
  ])('that %s is refused', async (_what, pack, why) => {
    await expect(inspect(pack())).rejects.toThrow(why);
  });

  test('unpacks to no more than is allowed, all of it together', async () => {
    const zeros = blob(Buffer.alloc(1000));
    const bounds = { objects: 10, objectBytes: 1000, unpackedBytes: 2500 };
    expect(await inspect(packOf(zeros, zeros), bounds)).toBe(2);
    await expect(inspect(packOf(zeros, zeros, zeros), bounds)).rejects.toThrow(
      /number 3 of 3, .*\) that unpacks, with those before it, to more than 2500 bytes: push/,
    );
  });
});
