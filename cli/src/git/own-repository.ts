import { realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { GitMissing, type GitOptions, runGit } from '@suzumio/runner/work-tree/run-git';
import type { GitDir } from '@suzumio/runner/work-tree/work-tree';

/** A person's repository on this machine. */
export class OwnRepository {
  private constructor(
    /** The directory of its files. */
    readonly top: string,
    readonly gitDir: GitDir,
    /** What all of its work trees share. */
    readonly commonDir: string,
    private readonly env: NodeJS.ProcessEnv,
  ) {}

  /**
   * @param directory the repository, or a directory in it
   * @throws SuzumioError `invalid-request` where there is none, or no Git
   */
  static async at(directory: string, env: NodeJS.ProcessEnv): Promise<OwnRepository> {
    const cwd = await realpath(directory).catch(() => undefined);
    if (cwd === undefined) throw new SuzumioError('invalid-request', `There is no directory ${resolve(directory)}.`);
    const ask = async (...args: string[]) => (await runGit(['rev-parse', ...args], { env, cwd })).replace(/\n$/, '');
    const top = await ask('--show-toplevel').catch((error: unknown) => {
      if (error instanceof GitMissing) throw new SuzumioError('invalid-request', 'There is no git on this machine.');
      throw new SuzumioError(
        'invalid-request',
        `${resolve(directory)} is in no work tree of a Git repository: go into one, or name it with --repository.`,
        {},
        { cause: error },
      );
    });
    const gitDir = await ask('--absolute-git-dir');
    const [objects, commonDir] = [await ask('--git-path', 'objects'), await ask('--git-common-dir')];
    return new OwnRepository(top, { gitDir, objects: resolve(cwd, objects) }, resolve(cwd, commonDir), env);
  }

  /** Runs Git in it, with the person's own settings. What Git says is in English. */
  git(args: readonly string[], options: Pick<GitOptions, 'input'> = {}): Promise<string> {
    return runGit(args, { env: { ...this.env, LC_ALL: 'C' }, cwd: this.top, ...options });
  }
}
