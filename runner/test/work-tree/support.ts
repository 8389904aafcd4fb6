import { execFileSync } from 'node:child_process';
import { lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { ChangingTree } from '@suzumio/runner/work-tree/changing-tree';
import type { OnStep } from '@suzumio/runner/work-tree/replace-files';
import { TestRepository } from '../../../services/turn-worker/test/support/repository.js';

export const week = 7 * 24 * 60 * 60_000;

/** What a change came to. */
export interface Outcome {
  readonly paths: readonly string[];
  readonly conflicts: readonly string[];
  /** Earlier changes that were undone first. */
  readonly undone: number;
}

/** Brings what differs between HEAD and a tree into a person's files, as `patch apply` does. */
export async function change(path: string, theirs: string, onStep?: OnStep): Promise<Outcome> {
  const env = { ...process.env, GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' };
  return ChangingTree.change(path, { env, retentionMs: week, onStep }, async (tree) => {
    const undone = tree.recovered.undone.length;
    const base = (await tree.inClone(['rev-parse', 'HEAD^{tree}'])).trim();
    const merged = await tree.merged({ base, theirs }, { ours: 'yours', theirs: 'patch' });
    if (merged.conflicts.length > 0) return { paths: [], conflicts: merged.conflicts, undone };
    const moved = await tree.move(merged.files, merged.tree);
    await moved.end();
    await moved.clean();
    return { paths: moved.paths, conflicts: [], undone };
  });
}

/** A person's repository. */
export class Own {
  readonly directory = mkdtempSync(join(tmpdir(), 'suzumio-own-'));
  readonly repository = new TestRepository(join(this.directory, 'own'));
  readonly path = this.repository.path;

  git(...args: string[]): string {
    return this.repository.git(...args);
  }

  /** The tree of HEAD with other files; null takes one away. */
  theirs(files: Readonly<Record<string, string | null>>): string {
    const index = join(this.directory, 'index');
    rmSync(index, { force: true });
    const env = { PATH: process.env['PATH'], GIT_INDEX_FILE: index };
    const git = (args: string[], input = '') =>
      execFileSync('git', ['-C', this.path, ...args], { env, input, encoding: 'utf8' }).trim();
    git(['read-tree', 'HEAD']);
    for (const [path, text] of Object.entries(files)) {
      if (text === null) git(['update-index', '--force-remove', '--', path]);
      else
        git([
          'update-index',
          '--add',
          '--replace',
          '--cacheinfo',
          `100644,${git(['hash-object', '-w', '--stdin'], text)},${path}`,
        ]);
    }
    return git(['write-tree']);
  }

  /** The tree of HEAD with one more file, at a path that Git itself takes into no index. */
  hostile(path: string, text: string): string {
    const run = (args: string[], input: string) =>
      execFileSync('git', ['-C', this.path, ...args], { input, encoding: 'utf8' }).trim();
    const parts = path.split('/');
    let entry = `100644 blob ${run(['hash-object', '-w', '--stdin'], text)}\t${parts.pop() ?? ''}`;
    for (const part of parts.reverse()) entry = `040000 tree ${run(['mktree', '-z'], `${entry}\0`)}\t${part}`;
    return run(['mktree', '-z'], `${this.git('ls-tree', '-z', 'HEAD')}${entry}\0`);
  }

  /** All texts that are below the directory, those that were replaced, too. */
  texts(): string {
    const found: string[] = [];
    const walk = (directory: string) => {
      for (const name of readdirSync(directory)) {
        const path = join(directory, name);
        if (['objects', 'hooks', 'logs'].includes(name)) continue;
        const stats = lstatSync(path, { throwIfNoEntry: false });
        if (stats?.isDirectory() === true) walk(path);
        else if (stats?.isFile() === true && stats.size < 1_000_000) found.push(readFileSync(path, 'utf8'));
      }
    };
    walk(this.path);
    return found.join('\n');
  }

  remove(): void {
    rmSync(this.directory, { recursive: true, force: true });
  }
}
