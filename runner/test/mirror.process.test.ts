import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { Mirror } from '../src/git/mirror.js';
import { ownEnv } from '../src/work-tree/run-git.js';

let base: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'suzumio-mirror-'));
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

function git(args: readonly string[], input = ''): Buffer {
  const env = { ...ownEnv(process.env), HOME: base };
  const who = ['-c', 'user.name=Yuki', '-c', 'user.email=yuki@example.org'];
  return execFileSync('git', ['-C', base, ...who, ...args], { env, input, stdio: ['pipe', 'pipe', 'pipe'] });
}

test.each([
  ['is too long for a disk', ['é'.repeat(200)]],
  ['has halves of characters', ['\ud800', '\ud801', '\ufffd']],
])('a reference whose name %s keeps no other from being fetched', async (_what, odd) => {
  git(['init', '--quiet', '--initial-branch=main', 'work']);
  git(['-C', 'work', 'commit', '--quiet', '--allow-empty', '--message', 'Begin']);
  const id = git(['-C', 'work', 'rev-parse', 'HEAD']).toString().trim();
  const pack = git(['-C', 'work', 'pack-objects', '--revs', '--stdout', '-q'], 'HEAD\n');
  const refs = [...odd, 'main'].map((name) => ({ ref: `refs/heads/${name}`, id }));
  const source = {
    state: (after: number) =>
      Promise.resolve({
        refs,
        packs: after === 0 ? [{ push: 1, sha256: '0'.repeat(64), sizeBytes: pack.length }] : [],
        more: false,
      }),
    receive: (_sha256: string, file: string) => writeFile(file, pack),
  };
  const said: string[] = [];
  const mirror = new Mirror(join(base, 'mirror.git'), source, ownEnv(process.env), (line) => void said.push(line));
  await mirror.update();
  const there = git(['--git-dir=mirror.git', 'for-each-ref', '--format=%(refname)']).toString().trim().split('\n');
  expect(there).toContain('refs/heads/main');
  expect(said.length).toBe(refs.length - there.length);
});
