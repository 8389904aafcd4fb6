import { createHash } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { ContentStore, maxContentBytes } from '@suzumio/store/content/content-store';

let directory: string;
let content: ContentStore;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'suzumio-content-'));
  content = new ContentStore(directory);
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const hashOf = (value: string) => createHash('sha256').update(value).digest('hex');
const leftovers = async () => (await readdir(join(directory, 'artifacts'))).filter((name) => name.startsWith('.'));

describe('stored content', () => {
  test('is found under its hash, whole', async () => {
    const hash = hashOf('Hello.');
    expect(content.has(hash)).toBe(false);
    expect(await content.sizeOf(hash)).toBeUndefined();
    await content.put(hash, Readable.from([Buffer.from('Hel'), Buffer.from('lo.')]));
    expect(content.has(hash)).toBe(true);
    expect(await content.sizeOf(hash)).toBe(6);
    expect(await text(content.read(hash))).toBe('Hello.');
    expect(await text(content.read(hash, { start: 1, end: 3 }))).toBe('ell');
    expect((await content.readStart(hash, 4)).toString()).toBe('Hell');
    expect((await content.readStart(hash, 100)).toString()).toBe('Hello.');
    expect(content.pathOf(hash)).toBe(join('artifacts', hash.slice(0, 2), hash));
    expect(await content.putBytes(Buffer.from('Hello.'))).toBe(hash);
    expect(await leftovers()).toEqual([]);
  });

  test('of which nobody knows the hash yet gets it', async () => {
    const stored = await content.putStream(Readable.from([Buffer.from('Hel'), Buffer.from('lo.')]));
    expect(stored).toEqual({ sha256: hashOf('Hello.'), sizeBytes: 6 });
    expect(await text(content.read(stored.sha256))).toBe('Hello.');
    const cut = Readable.from(
      (function* () {
        yield Buffer.from('Hel');
        throw new Error('cut');
      })(),
    );
    await expect(content.putStream(cut)).rejects.toThrow('cut');
    expect(await leftovers()).toEqual([]);
  });

  test('that is not what it claims to be is refused', async () => {
    const hash = hashOf('Hello.');
    await expect(content.put(hash, [Buffer.from('Hullo.')])).rejects.toMatchObject({ code: 'content-mismatch' });
    expect(content.has(hash)).toBe(false);
    expect(await leftovers()).toEqual([]);
  });

  test('that is cut off leaves nothing', async () => {
    const hash = hashOf('Hello.');
    const cut = new Readable({
      read() {
        this.push('Hel');
        this.destroy(new Error('cut off'));
      },
    });
    await expect(content.put(hash, cut)).rejects.toThrow('cut off');
    expect(content.has(hash)).toBe(false);
    expect(await leftovers()).toEqual([]);
  });

  test('that is too large is refused before it is all written', async () => {
    const chunk = Buffer.alloc(16 * 1024 * 1024);
    let given = 0;
    function* endless() {
      for (;;) {
        given += chunk.length;
        yield chunk;
      }
    }
    await expect(content.put(hashOf(''), endless())).rejects.toMatchObject({ code: 'content-too-large' });
    expect(given).toBeLessThanOrEqual(maxContentBytes + chunk.length);
    expect(await leftovers()).toEqual([]);
  });

  test('may come twice at once', async () => {
    const hash = hashOf('Hello.');
    await Promise.all([1, 2, 3].map(() => content.put(hash, [Buffer.from('Hello.')])));
    expect(await text(content.read(hash))).toBe('Hello.');
    expect(await leftovers()).toEqual([]);
  });
});
