import { randomBytes } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { upstreamBranch } from '@suzumio/protocol/repository';
import { TurnFailure } from '../turn-failure.js';
import { GitFailed, runGit, takePack } from '../work-tree/run-git.js';
import type { SharedDoor } from './shared-door.js';
import type { UpstreamOfTurn } from './shared-turn.js';

/** The commit that a whole mirror is at. */
const atFile = 'suzumio-at';

/**
 * The repository that the workspace was cloned from, as it was before this turn, as a bare repository with one branch. It borrows
 * the clone's objects, and nothing is written among them. What it holds of its own may be hostile: objects are taken with all
 * that they refer to, or not at all.
 */
export class UpstreamMirror {
  constructor(
    private readonly door: Pick<SharedDoor, 'receive'>,
    private readonly of: UpstreamOfTurn,
    private readonly env: NodeJS.ProcessEnv,
  ) {}

  get path(): string {
    return this.of.mirror;
  }

  /**
   * Makes it, unless it is there. Programs may run it twice at a time: each makes its own, and one is kept.
   *
   * @throws TurnFailure `upstream-base-gone`, `upstream-pack-refused`
   */
  async update(): Promise<void> {
    if (await this.#isThere()) return;
    const making = `${this.path}.${randomBytes(6).toString('hex')}`;
    try {
      await this.#make(making);
      await rename(making, this.path).catch(async () => {
        // Another program was sooner, and may be reading; or what is there is of an earlier turn.
        if (await this.#isThere()) return;
        await rm(this.path, { recursive: true, force: true });
        await rename(making, this.path);
      });
    } finally {
      await rm(making, { recursive: true, force: true });
    }
  }

  async #isThere(): Promise<boolean> {
    return (await readFile(join(this.path, atFile), 'utf8').catch(() => '')) === this.of.commit;
  }

  async #make(path: string): Promise<void> {
    const { commit, base, packs, shallow, objects } = this.of;
    await mkdir(path, { recursive: true });
    const git = (args: readonly string[], input?: string | { file: string }) =>
      runGit([`--git-dir=${path}`, ...args], { env: this.env, ...(input === undefined ? {} : { input }) });
    const format = `--object-format=${commit.length === 64 ? 'sha256' : 'sha1'}`;
    await git(['init', '--quiet', '--bare', '--template=', format, `--initial-branch=${upstreamBranch}`]);
    // A shallow tip comes whole, and what it is cut off at need not be in the clone. Without a pack the tip is the base.
    if (shallow && packs.length > 0) await writeFile(join(path, 'shallow'), shallow.map((id) => `${id}\n`).join(''));
    else {
      await mkdir(join(path, 'objects', 'info'), { recursive: true });
      await writeFile(join(path, 'objects', 'info', 'alternates'), `${objects}\n`);
      await git(['cat-file', '-e', `${base}^{commit}`]).catch((error: unknown) => {
        if (!(error instanceof GitFailed)) throw error;
        throw new TurnFailure(
          `upstream-base-gone: the commit ${base}, which this workspace was cloned at, is not in its .git any more, and what is new builds on it; nothing was changed`,
        );
      });
    }
    for (const { sha256 } of packs) {
      const file = join(path, 'suzumio-pack');
      await this.door.receive(sha256, file);
      await git(takePack, { file }).catch(refused);
      await rm(file);
    }
    await git(['update-ref', `refs/heads/${upstreamBranch}`, commit]).catch(refused);
    await writeFile(join(path, atFile), commit);
  }
}

function refused(error: unknown): never {
  if (!(error instanceof GitFailed)) throw error;
  throw new TurnFailure(
    `upstream-pack-refused: Git does not take what is new in the repository of this workspace, for it is broken, or objects that it builds on are gone from .git; nothing was changed. Git says: ${error.message}`,
  );
}
