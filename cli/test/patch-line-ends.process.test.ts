import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { TestRepository } from '../../services/turn-worker/test/support/repository.js';
import { applyPatch } from '../src/patch/apply-patch.js';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'suzumio-ends-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const crlf = Array.from({ length: 9 }, (_, at) => `line ${at}\r\n`).join('');

test.each([
  ['text', '* text\n', []],
  ['text=auto', '* text=auto\n', []],
  ['no attribute and core.autocrlf', '', ['config', 'core.autocrlf', 'true']],
])("a patch of one line applies over a person's file with CR LF (%s)", async (_, attributes, settings) => {
  const tides = new TestRepository(join(directory, 'tides'));
  tides.write({ '.gitattributes': attributes, f: crlf });
  const id = tides.git('hash-object', '-w', '--no-filters', 'f');
  tides.git('add', '.gitattributes');
  tides.git('update-index', '--add', '--cacheinfo', `100644,${id},f`);
  tides.git('commit', '--quiet', '--message', 'First');
  const base = tides.git('rev-parse', 'HEAD');
  if (settings.length > 0) tides.git(...settings);
  const changed = crlf.replace('line 2', 'LINE 2');
  const to = execFileSync('git', ['-C', tides.path, 'hash-object', '-w', '--no-filters', '--stdin'], {
    input: changed,
  });
  const plain = ['-C', tides.path, 'diff', '--binary', '--full-index', id, to.toString().trim()];
  const bytes = execFileSync('git', plain, { encoding: 'utf8' })
    .replaceAll(`a/${id}`, 'a/f')
    .replaceAll(`b/${to.toString().trim()}`, 'b/f');
  // The person has changed another line.
  writeFileSync(join(tides.path, 'f'), crlf.replace('line 7', 'mine'));
  const applied = await applyPatch({ id: 'p-1', base, bytes: Buffer.from(bytes) }, async function* () {}, {
    directory: tides.path,
    env: { PATH: process.env['PATH'], HOME: directory },
    called: 'f.patch',
    conflicts: false,
  });
  expect(applied).toMatchObject({ files: ['f'], conflicts: [] });
  expect(readFileSync(join(tides.path, 'f'), 'utf8')).toBe(changed.replace('line 7', 'mine'));
});

test.each([
  ['CR LF where Git would write LF', '* text=auto\n', '\r\n'],
  ['LF where Git would write CR LF', '* text=auto eol=crlf\n', '\n'],
])("a patch leaves a person's file the line ends that it has (%s)", async (_, attributes, end) => {
  const tides = new TestRepository(join(directory, 'tides'));
  const committed = crlf.replaceAll('\r\n', '\n');
  tides.commit({ '.gitattributes': attributes, f: committed });
  const base = tides.git('rev-parse', 'HEAD');
  tides.write({ f: committed.replace('line 2', 'LINE 2') });
  const bytes = `${tides.git('diff', '--binary', '--full-index')}\n`;
  const own = committed.replace('line 7', 'mine').replaceAll('\n', end);
  writeFileSync(join(tides.path, 'f'), own);
  await applyPatch({ id: 'p-1', base, bytes: Buffer.from(bytes) }, async function* () {}, {
    directory: tides.path,
    env: { PATH: process.env['PATH'], HOME: directory },
    called: 'f.patch',
    conflicts: false,
  });
  expect(readFileSync(join(tides.path, 'f'), 'utf8')).toBe(own.replace('line 2', 'LINE 2'));
});
