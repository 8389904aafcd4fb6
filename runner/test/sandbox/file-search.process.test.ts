import { execFileSync, spawnSync } from 'node:child_process';
import { chmod, mkdir, open, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { SandboxToolName } from '@suzumio/protocol/tool-names';
import { createSandbox, type TestSandbox } from '../support/sandbox.js';

let box: TestSandbox;
beforeEach(async () => (box = await createSandbox()));
afterEach(() => box.remove());

async function put(path: string, content: string | Buffer): Promise<void> {
  await mkdir(dirname(join(box.workspace, path)), { recursive: true });
  await writeFile(join(box.workspace, path), content);
}
const search = async (input: object): Promise<string[]> => (await box.run('file.search', input)).output.split('\n');

describe('file.search', () => {
  test('tells file, line number and line, in the order of paths', async () => {
    await put('src/b.ts', 'nothing\nneedle one\n');
    await put('src/a.ts', 'a needle\r\n');
    await put('.hidden', 'needle\n');
    await put('.git/config', 'needle\n');
    await put('ignored/c.ts', 'needle\n');
    await put('.gitignore', 'ignored/\n');
    await put('binary', 'needle\0\n');
    expect(await search({ pattern: 'n[e]+dle' })).toEqual([
      '.hidden:1:needle',
      'src/a.ts:1:a needle',
      'src/b.ts:2:needle one',
    ]);
    expect(await search({ pattern: 'needle', path: 'src', glob: 'b*' })).toEqual(['src/b.ts:2:needle one']);
    expect(await search({ pattern: 'needle', path: 'src/a.ts' })).toEqual(['src/a.ts:1:a needle']);
    expect(await search({ pattern: 'NEEDLE', path: 'src/a.ts', ignoreCase: true })).toHaveLength(1);
    expect(await search({ pattern: 'needle', ignored: true })).toContain('ignored/c.ts:1:needle');
    expect(await search({ pattern: 'no such thing' })).toEqual(['[Nothing matches.]']);
  });

  test('finds what is after a NUL in a text that file.read shows, and names such files where nothing else matches', async () => {
    const text = `${'first\n'.repeat(3000)}nul \0 here\nneedle\n`;
    await put('logs/a.log', text);
    await put('logs/b.bin', '\0\0needle');
    await put('logs/c.log', 'hay\n');
    expect(await search({ pattern: 'needle', path: 'logs/a.log' })).toEqual(['logs/a.log:3002:needle']);
    expect(await search({ pattern: 'needle', path: 'logs' })).toEqual([
      '[Nothing matches in what is text alone; after NUL bytes, something does in "logs/a.log", "logs/b.bin": search such a file by its own path.]',
    ]);
    expect(await search({ pattern: 'hay', path: 'logs' })).toEqual(['logs/c.log:1:hay']);
  });

  test('takes exact text, and shows what is around it', async () => {
    await put('a', '1\n2\n(x\n4\n5\n6\n7\n8\n(x\n');
    expect(await search({ pattern: '(x', literal: true, context: 1 })).toEqual([
      'a-2-2',
      'a:3:(x',
      'a-4-4',
      '--',
      'a-8-8',
      'a:9:(x',
    ]);
    expect(await box.refused('file.search', { pattern: '(x' })).toMatchObject({ code: 'pattern-invalid' });
    expect(await box.refused('file.search', { pattern: 'x', glob: '{' })).toMatchObject({ code: 'pattern-invalid' });
  });

  test('a pattern and a path are never an option', async () => {
    await put('-e', '--pre=touch outside\n');
    expect(await search({ pattern: '--pre=', path: '-e' })).toEqual(['-e:1:--pre=touch outside']);
  });

  test('is bounded by matches and bytes', async () => {
    await put('a', 'needle\n'.repeat(5000));
    expect(await search({ pattern: 'needle', path: 'a', maxMatches: 2 })).toEqual([
      'a:1:needle',
      'a:2:needle',
      '[There is more than 2 matches: search for less.]',
    ]);
    expect(await search({ pattern: 'needle', path: 'a', maxBytes: 30, maxMatches: 1000 })).toHaveLength(3);
  });

  test('of a long line, what is around the first match is shown, and where', async () => {
    const note =
      '[Of longer lines, what is around the first match is shown: file.read with offset for the line and column shows more.]';
    await put('long', `a\n${'x'.repeat(100_000)}needle${'y'.repeat(1000)}needle\n`);
    const shown = (column: number, length: number, others = '') =>
      `[column ${column} of ${length}${others}]…${'x'.repeat(200)}needle${'y'.repeat(294)}…`;
    expect(await search({ pattern: 'needle', path: 'long' })).toEqual([
      `long:2:${shown(99_801, 101_012, ', 2 matches')}`,
      note,
    ]);
    // Longer than what is read of a match at once; two files, between others.
    for (const name of ['p/1', 'p/3']) {
      await put(
        name,
        `needle\n${'x'.repeat(5_000_000)}needle${'y'.repeat(1000)}\nneedle\n${'é'.repeat(400_000)}needle\n`,
      );
    }
    await put('p/2', 'needle\n');
    const ofLong = (name: string) => [
      `${name}:1:needle`,
      `${name}:2:${shown(4_999_801, 5_001_006)}`,
      `${name}:3:needle`,
      `${name}:4:[column 799801 of 800006]…${'é'.repeat(100)}needle`,
    ];
    expect(await search({ pattern: 'needle', path: 'p' })).toEqual([
      ...ofLong('p/1'),
      'p/2:1:needle',
      ...ofLong('p/3'),
      note,
    ]);
    expect((await box.run('file.read', { path: 'p/1', offset: 2, column: 5_000_001, maxBytes: 20 })).output).toContain(
      '2\tneedleyy',
    );
  });

  test('reads UTF-16 by what it begins with, and a single file without a mark', async () => {
    await put('with', Buffer.from('\ufefffirst\nnädel here\n', 'utf16le'));
    await put('without', Buffer.from('first\nnädel here\n', 'utf16le').swap16());
    expect(await search({ pattern: 'nädel' })).toEqual(['with:2:nädel here']);
    expect(await search({ pattern: 'nädel', path: 'without' })).toEqual(['without:2:nädel here']);
  });

  test('ends after its time', async () => {
    const slow = await createSandbox({ limits: { searchMs: 1 } });
    const file = await open(join(slow.workspace, 'large'), 'w');
    for (let times = 0; times < 40; times += 1) await file.write(Buffer.alloc(5_000_000, 'abcdefg\n'));
    await file.close();
    const { output, metadata } = await slow.run('file.search', { pattern: '(a|b|c|d)+[^a-g\\n]+x' });
    expect(output).toBe('[Ended after 1 ms, before all was searched.]');
    expect(metadata).toMatchObject({ truncated: true });
    await slow.remove();
  });

  test('follows no links', async () => {
    await writeFile(join(box.outside, 'secret'), 'needle\n');
    await symlink('../outside', join(box.workspace, 'away'));
    await symlink('../outside/secret', join(box.workspace, 'secret'));
    expect(await search({ pattern: 'needle' })).toEqual(['[Nothing matches.]']);
    expect(await box.refused('file.search', { pattern: 'x', path: 'away' })).toMatchObject({ code: 'path-outside' });
  });

  test.each(['pipe', 'device'])('waits for no %s, and no other tool does: each says what it is', async (kind) => {
    const path = join(box.workspace, kind);
    if (kind === 'pipe') execFileSync('mkfifo', [path]);
    // Only root makes devices; another user's workspace has none.
    else if (spawnSync('mknod', [path, 'c', '1', '5']).status !== 0) return;
    await put('a', 'needle\n');
    expect(await search({ pattern: 'needle' })).toEqual(['a:1:needle']);
    const edit = { path: kind, search: 'x', replace: 'y' };
    const calls: [SandboxToolName, object][] = [
      ['file.read', { path: kind }],
      ['file.write', { path: kind, content: 'x' }],
      ['file.patch', edit],
      ['file.search', { pattern: 'x', path: kind }],
    ];
    for (const [tool, input] of calls) {
      expect(await box.refused(tool, input)).toMatchObject({
        code: 'not-a-file',
        message: expect.stringContaining(`"${kind}" is a `),
      });
    }
  });

  test('says so where ripgrep is not in the image', async () => {
    const without = await createSandbox({ env: { PATH: box.outside } });
    expect(await without.refused('file.search', { pattern: 'x' })).toMatchObject({ code: 'program-missing' });
    await without.remove();
  });

  test('heeds no configuration of the image', async () => {
    const configured = await createSandbox({ env: { RIPGREP_CONFIG_PATH: join(box.outside, 'rc') } });
    await writeFile(join(box.outside, 'rc'), '--pre=/bin/false\n');
    await writeFile(join(configured.workspace, 'a'), 'needle\n');
    expect((await configured.run('file.search', { pattern: 'needle' })).output).toBe('a:1:needle');
    await configured.remove();
  });

  test('ends with the turn', async () => {
    const program = join(box.outside, 'rg');
    await writeFile(program, '#!/bin/sh\nexec sleep 60\n');
    await chmod(program, 0o755);
    const hanging = await createSandbox({ env: { PATH: `${box.outside}:${process.env['PATH'] ?? ''}` } });
    const controller = new AbortController();
    const call = hanging.run('file.search', { pattern: 'x' }, { signal: controller.signal });
    setTimeout(() => controller.abort(), 50);
    await expect(call).rejects.toMatchObject({ code: 'cancelled' });
    await hanging.remove();
  });
});

test('file.list leaves out what .gitignore names', async () => {
  for (const path of ['src/a.ts', 'src/a.log', 'build/out.js', 'keep', 'empty/.gitignore']) await put(path, 'content');
  await put('.gitignore', 'build/\n*.log\n');
  const { output } = await box.run('file.list', { recursive: true, gitignore: true });
  expect(output.split('\n')).toEqual([
    '.gitignore\t13 bytes',
    'empty/',
    'empty/.gitignore\t7 bytes',
    'keep\t7 bytes',
    'src/',
    'src/a.ts\t7 bytes',
  ]);
});
