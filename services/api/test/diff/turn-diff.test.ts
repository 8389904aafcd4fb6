import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { FileChange } from '@suzumio/contract/model/workspace';
import { ContentStore } from '@suzumio/store/content/content-store';
import { turnDiff } from '../../src/diff/turn-diff.js';

let directory: string;
let content: ContentStore;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'suzumio-diff-'));
  content = new ContentStore(directory);
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

async function file(text: string) {
  const bytes = Buffer.from(text);
  return { kind: 'file' as const, sha256: await content.putBytes(bytes), sizeBytes: bytes.length, executable: false };
}

async function changed(path: string, was: string, is: string): Promise<FileChange> {
  return { path, change: 'changed', before: await file(was), after: await file(is) };
}

const diff = (...changes: FileChange[]) => turnDiff(content, changes, changes.length);
const lines = (count: number) => 'x\n'.repeat(count);

describe('a diff', () => {
  test('is of texts that are not too long', async () => {
    const made = await diff(await changed('a', 'one\n', 'two\n'), await changed('b', 'a'.repeat(1_048_577), 'b'));
    expect(made).toContain('-one\n+two\n');
    expect(made).toMatch(/# b was changed, .* -> 1 byte.*: it is longer than 1/);
  });

  test('compares no more than 100,000 lines, and goes on with what has fewer', async () => {
    const made = await diff(
      await changed('long', lines(100_001), 'y\n'),
      await changed('a', `${lines(30_000)}one\n`, `${lines(30_000)}two\n`),
      await changed('b', `${lines(30_000)}one\n`, `${lines(30_000)}two\n`),
      await changed('c', 'one\n', 'three\n'),
    );
    expect(made).toMatch(/# long was changed.*: it has more than 100000 lines/);
    expect(made).toMatch(/a\/a b\/a[^]*-one\n\+two\n/);
    expect(made).toMatch(/# b was changed.*: this diff has 100000 lines to compare already: ask for its path/);
    expect(made).toContain('-one\n+three\n');
  });

  test('reads no more than 32 MiB', async () => {
    const texts = ['a', 'b'].map((letter) => letter.repeat(1_048_575));
    const large = await changed('a', `${texts[0]}\n`, `${texts[1]}\n`);
    const made = await turnDiff(
      content,
      Array.from({ length: 20 }, (_, number) => ({ ...large, path: `f${number}`, before: large.after })),
      20,
    );
    expect(made).toContain('a/f15 b/f15');
    expect(made).toMatch(/# f16 was changed.*: this diff has read 3[0-9.]+ M.*already: ask for its path/);
  });

  test('says how many files it leaves out', async () => {
    const change = await changed('a', 'one\n', 'two\n');
    expect(await turnDiff(content, [change], 3)).toMatch(/# 2 more files have changed: ask for a path\.\n$/);
  });
});
