import { crc32, deflateSync } from 'node:zlib';

/** A picture in one of the formats that models are shown, of one colour; GIF, JPEG and WebP with few of their pixels. */
export const pictures = {
  png(width: number, height: number, colour = 0x80): Buffer {
    const header = Buffer.alloc(13);
    header.writeUInt32BE(width, 0);
    header.writeUInt32BE(height, 4);
    // Eight bits of grey.
    header.set([8, 0, 0, 0, 0], 8);
    const row = Buffer.alloc(width + 1, colour).fill(0, 0, 1);
    const pixels = deflateSync(Buffer.concat(Array.from({ length: height }, () => row)));
    const signature = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
    return Buffer.concat([signature, chunk('IHDR', header), chunk('IDAT', pixels), chunk('IEND', Buffer.alloc(0))]);
  },
  jpeg(width: number, height: number): Buffer {
    const application = segment(0xe0, Buffer.from('JFIF\0\x01\x01\0\0\x01\0\x01\0\0', 'latin1'));
    const tables = segment(0xc4, Buffer.alloc(17));
    const sides = Buffer.alloc(4);
    sides.writeUInt16BE(height, 0);
    sides.writeUInt16BE(width, 2);
    const frame = segment(0xc2, Buffer.concat([Buffer.from([8]), sides, Buffer.from([1, 1, 0x11, 0])]));
    const scan = segment(0xda, Buffer.from([1, 1, 0, 0, 63, 0]));
    const [begin, end] = [Buffer.from([0xff, 0xd8]), Buffer.from([0xff, 0xd9])];
    // A fill byte may come before any marker.
    return Buffer.concat([begin, application, Buffer.from([0xff]), tables, frame, scan, Buffer.from([1, 2, 3]), end]);
  },
  gif(width: number, height: number): Buffer {
    const screen = Buffer.alloc(7);
    screen.writeUInt16LE(width, 0);
    screen.writeUInt16LE(height, 2);
    const place = Buffer.alloc(10);
    place.set([0x2c]);
    screen.copy(place, 5, 0, 4);
    const comment = Buffer.from('!\xfe\x04note\0', 'latin1');
    return Buffer.concat([
      Buffer.from('GIF89a'),
      screen,
      comment,
      place,
      Buffer.from([2, 2, 0x4c, 1, 0]),
      Buffer.from(';'),
    ]);
  },
  /** With an extended header. */
  webp(width: number, height: number): Buffer {
    const sides = Buffer.alloc(10);
    sides.writeUIntLE(width - 1, 4, 3);
    sides.writeUIntLE(height - 1, 7, 3);
    return riff('VP8X', Buffer.concat([sides, Buffer.from('ANMF\0\0\0\0', 'latin1')]), sides.length);
  },
  lossyWebp(width: number, height: number): Buffer {
    const frame = Buffer.from([0x10, 0, 0, 0x9d, 0x01, 0x2a, 0, 0, 0, 0]);
    frame.writeUInt16LE(width, 6);
    frame.writeUInt16LE(height, 8);
    return riff('VP8 ', frame);
  },
  losslessWebp(width: number, height: number): Buffer {
    const bits = Buffer.alloc(5, 0x2f);
    bits.writeUInt32LE((width - 1) | ((height - 1) << 14), 1);
    return riff('VP8L', Buffer.concat([bits, Buffer.alloc(1)]));
  },
};

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}

function segment(marker: number, data: Buffer): Buffer {
  const head = Buffer.from([0xff, marker, 0, 0]);
  head.writeUInt16BE(data.length + 2, 2);
  return Buffer.concat([head, data]);
}

/** @param length of the first chunk, where others follow it */
function riff(type: string, data: Buffer, length = data.length): Buffer {
  const [all, own] = [Buffer.alloc(4), Buffer.alloc(4)];
  all.writeUInt32LE(4 + 8 + data.length);
  own.writeUInt32LE(length);
  return Buffer.concat([Buffer.from('RIFF'), all, Buffer.from('WEBP'), Buffer.from(type), own, data]);
}
