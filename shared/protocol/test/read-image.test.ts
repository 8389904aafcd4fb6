import { crc32 } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { imageText, imageTokens, maxImageBytes } from '@suzumio/protocol/images';
import { imageMediaType, readImage } from '@suzumio/protocol/read-image';
import { pictures } from '../../../test/support/pictures.js';

const kinds: [keyof typeof pictures, string][] = [
  ['png', 'image/png'],
  ['jpeg', 'image/jpeg'],
  ['gif', 'image/gif'],
  ['webp', 'image/webp'],
  ['lossyWebp', 'image/webp'],
  ['losslessWebp', 'image/webp'],
];

describe.each(kinds)('a %s', (kind, mediaType) => {
  test('says its size', () => {
    for (const [width, height] of [
      [640, 480],
      [1, 1],
      [7_999, 300],
    ] as const) {
      expect(readImage(pictures[kind](width, height))).toEqual({ mediaType, width, height });
    }
  });

  test('is not shown without its end, wherever it is cut, and is never read beyond it', () => {
    const whole = pictures[kind](64, 48);
    for (let length = 12; length < whole.length; length += 1) {
      const cut = readImage(whole.subarray(0, length));
      expect(cut === undefined || 'why' in cut).toBe(true);
    }
  });

  test('is not shown where a side is too long, or there is none', () => {
    expect(readImage(pictures[kind](8_001, 2))).toMatchObject({ code: 'image-too-large' });
    if (!kind.toLowerCase().endsWith('webp') || kind === 'lossyWebp') {
      expect(readImage(pictures[kind](0, 2))).toMatchObject({ code: 'image-broken', why: 'it does not say its size' });
    }
  });

  test('is not even read where it has too many bytes', () => {
    const padded = Buffer.concat([pictures[kind](4, 4), Buffer.alloc(maxImageBytes)]);
    expect(readImage(padded)).toMatchObject({
      code: 'image-too-large',
      why: expect.stringMatching(/^it has \d+ bytes, and may have 3750000$/),
    });
  });
});

describe('what is damaged within', () => {
  const damaged = { code: 'image-broken', why: expect.stringMatching(/^it is damaged/) };
  const [ihdr, idat, iend] = [16, 4, 12];

  test('a PNG whose bytes have changed anywhere after its signature', () => {
    const whole = pictures.png(64, 48);
    for (let at = 8; at < whole.length; at += 1) {
      const changed = Buffer.from(whole);
      changed.writeUInt8(whole.readUInt8(at) ^ 1, at);
      expect(readImage(changed)).toMatchObject({ code: 'image-broken' });
    }
  });

  test('a PNG of which a hole, as after a crash, has taken a part, and one without pixels', () => {
    const whole = pictures.png(64, 48);
    const pixels = whole.indexOf('IDAT');
    expect(readImage(Buffer.from(whole).fill(0, pixels + idat, whole.length - iend - 4))).toMatchObject(damaged);
    const without = Buffer.concat([whole.subarray(0, pixels - idat), whole.subarray(whole.length - iend)]);
    expect(without).toHaveLength(8 + ihdr + 9 + iend);
    expect(readImage(without)).toMatchObject(damaged);
  });

  test('a PNG of more chunks than any program writes, of which each is whole', () => {
    const whole = pictures.png(4, 4);
    const pixels = whole.indexOf('IDAT') - idat;
    const chunk = Buffer.from('000000006554587400000000', 'hex').fill(0, 8);
    chunk.writeUInt32BE(crc32(chunk.subarray(4, 8)), 8);
    const of = (count: number) =>
      Buffer.concat([whole.subarray(0, pixels), ...Array.from({ length: count }, () => chunk), whole.subarray(pixels)]);
    expect(readImage(of(1_000))).toMatchObject({ width: 4 });
    expect(readImage(of(300_000))).toMatchObject(damaged);
  });

  test('a JPEG without its picture', () => {
    const whole = pictures.jpeg(64, 48);
    const scan = whole.indexOf(Buffer.from([0xff, 0xda]));
    const without = Buffer.concat([whole.subarray(0, scan), Buffer.from([0xff, 0xd9])]);
    expect(readImage(without)).toMatchObject({ code: 'image-broken' });
  });

  test('a GIF without a picture, and one with anything else in its place', () => {
    const whole = pictures.gif(64, 48);
    expect(readImage(Buffer.concat([whole.subarray(0, 13), Buffer.from(';')]))).toMatchObject(damaged);
    const changed = Buffer.from(whole);
    changed.writeUInt8(0x20, 13);
    expect(readImage(changed)).toMatchObject(damaged);
  });

  test('a WebP without a picture', () => {
    const whole = pictures.webp(64, 48);
    expect(readImage(Buffer.from(whole).fill(0, whole.length - 8))).toMatchObject(damaged);
  });

  test('a WebP whose size is that of another file', () => {
    for (const kind of ['webp', 'lossyWebp', 'losslessWebp'] as const) {
      const whole = pictures[kind](64, 48);
      const longer = Buffer.from(whole);
      longer.writeUInt32LE(whole.readUInt32LE(16) + 64, 16);
      expect(readImage(longer)).toMatchObject({ code: 'image-broken' });
    }
  });
});

test('what a camera has written after a JPEG is no part of it', () => {
  const picture = Buffer.concat([pictures.jpeg(32, 16), Buffer.from('camera notes')]);
  expect(readImage(picture)).toEqual({ mediaType: 'image/jpeg', width: 32, height: 16 });
});

test.each([
  ['nothing', ''],
  ['a text', 'GIF'],
  ['SVG', '<svg xmlns="http://www.w3.org/2000/svg"/>'],
  ['a page that is named as an image', '<html></html>'],
  ['TIFF', 'II*\0'],
  ['BMP', 'BM\0\0\0\0'],
  ['another RIFF file', 'RIFF\0\0\0\0WAVEfmt '],
])('%s is no image', (_what, text) => {
  const bytes = Buffer.from(text, 'latin1');
  expect(readImage(bytes)).toBeUndefined();
  expect(imageMediaType(bytes)).toBeUndefined();
});

test.each([
  ['PNG chunks of any length', Buffer.concat([pictures.png(4, 4).subarray(0, 33), Buffer.alloc(64, 0xff)])],
  ['JPEG segments of no length', Buffer.concat([Buffer.from([0xff, 0xd8]), Buffer.alloc(60_000, 0xff)])],
  ['a JPEG without a frame', Buffer.from([0xff, 0xd8, 0xff, 0xda, 0, 2, 0xff, 0xd9])],
  ['a lossless WebP without its mark', pictures.losslessWebp(4, 4).fill(0, 20, 21)],
])('%s end the reading', (_what, bytes) => {
  expect(readImage(bytes)).toMatchObject({ code: 'image-broken' });
});

test('is told in words', () => {
  const image = { mediaType: 'image/png', width: 640, height: 480, sizeBytes: 12_345 } as const;
  expect(imageText(image)).toBe('[image png 640x480, 12 kB]');
});

test('takes no more tokens than providers count', () => {
  expect(
    [
      [1, 1],
      [640, 480],
      [2_048, 2_048],
      [8_000, 8_000],
    ].map(([width = 0, height = 0]) => imageTokens({ width, height })),
  ).toEqual([300, 768, 10_486, 16_384]);
});
