import { randomBytes } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { asOneName } from '@suzumio/protocol/one-name';
import { defaultBranch, fitsOnDisk, type SharedState } from '@suzumio/protocol/shared-repository';
import { GitFailed, runGit, takePack } from '../work-tree/run-git.js';

/** The push up to which the mirror has all packs. */
const upToFile = 'suzumio-up-to';

/** Where a mirror has what it lacks from. */
export interface SharedSource {
  /** All references, and packs of the pushes after one. */
  state(after: number): Promise<SharedState>;
  /** Downloads a pack into a file. */
  receive(sha256: string, file: string): Promise<void>;
}

/**
 * Of the shared repository what was fetched, as a bare repository. What another agent has pushed is hostile: objects are taken with
 * all that they refer to, or not at all, and a reference to what is not there is left out. Programs may run it twice at a time.
 */
export class Mirror {
  /** @param log is told what was left out */
  constructor(
    readonly path: string,
    private readonly source: SharedSource,
    private readonly env: NodeJS.ProcessEnv,
    private readonly log: (line: string) => void,
  ) {}

  /** Brings packs and references up to date. */
  async update(): Promise<void> {
    await mkdir(this.path, { recursive: true });
    const branch = defaultBranch.replace('refs/heads/', '');
    await runGit(['init', '--quiet', '--bare', '--template=', `--initial-branch=${branch}`, this.path], {
      env: this.env,
    });
    let upTo = Number(await readFile(join(this.path, upToFile), 'utf8').catch(() => 0));
    for (;;) {
      const { refs, packs, more } = await this.source.state(upTo);
      for (const { push, sha256 } of packs) {
        await this.#take(push, sha256);
        upTo = push;
        await this.#note(upTo);
      }
      if (!more) return this.#move(refs);
    }
  }

  async #take(push: number, sha256: string): Promise<void> {
    const file = this.#temporary('pack');
    try {
      await this.source.receive(sha256, file);
      await this.#git(takePack, { input: { file } });
    } catch (error) {
      if (!(error instanceof GitFailed)) throw error;
      this.log(`what push ${String(push)} has brought is left out, for Git does not take it: ${error.message}`);
    } finally {
      await rm(file, { force: true });
    }
  }

  /** Moves references to where they are, but for those whose objects are not here. */
  async #move(wanted: SharedState['refs']): Promise<void> {
    const here = new Map<string, string>();
    for (const line of lines(await this.#git(['for-each-ref', '--format=%(objectname) %(refname)']))) {
      here.set(line.slice(41), line.slice(0, 40));
    }
    const asked = wanted.map(({ id }) => `${id}\n`).join('');
    const kinds = lines(await this.#git(['cat-file', '--batch-check=%(objecttype)'], { input: asked }));
    const commands: string[] = [];
    const names = (await this.#isCaseBlind()) ? new NamesOnDisk() : undefined;
    wanted.forEach(({ ref, id }, index) => {
      const kind = kinds[index] ?? '';
      const isThere = ref.startsWith('refs/heads/')
        ? kind === 'commit'
        : ['commit', 'tag', 'tree', 'blob'].includes(kind);
      if (!isThere) {
        this.log(
          `${ref} is left out: it is at ${id}, which is ${kind.endsWith('missing') ? 'in no push' : `a ${kind}`}`,
        );
        return;
      }
      if (!fitsOnDisk(ref)) {
        this.log(`${ref} is left out: its name is too long for a disk`);
        return;
      }
      const other = names?.add(ref);
      if (other !== undefined) {
        this.log(`${ref} is left out: this disk takes it for ${other}`);
        return;
      }
      if (here.get(ref) !== id) commands.push(`update ${ref} ${id}\n`);
      here.delete(ref);
    });
    // What is there no longer makes room for what is named below it.
    const gone = [...here.keys()].map((ref) => `delete ${ref}\n`);
    for (const some of [gone, commands]) {
      if (some.length > 0) await this.#git(['update-ref', '--stdin'], { input: some.join('') });
    }
  }

  async #note(upTo: number): Promise<void> {
    const file = this.#temporary('up-to');
    await writeFile(file, String(upTo));
    await rename(file, join(this.path, upToFile));
  }

  #temporary(of: string): string {
    return join(this.path, `suzumio-${of}-${randomBytes(6).toString('hex')}`);
  }

  /** Whether Git has found that its disk does not tell upper from lower case. */
  async #isCaseBlind(): Promise<boolean> {
    return (await this.#git(['config', '--type=bool', '--default=false', 'core.ignoreCase'])).trim() === 'true';
  }

  #git(args: readonly string[], options: { input?: string | { file: string } } = {}): Promise<string> {
    return runGit([`--git-dir=${this.path}`, ...args], { env: this.env, ...options });
  }
}

function lines(text: string): string[] {
  return text.split('\n').filter((line) => line !== '');
}

/** References as files, on a disk that takes some names for one. */
class NamesOnDisk {
  /** Names and the directories on their way, by the name that the disk sees. */
  readonly #names = new Map<string, string>();

  /** @returns what the disk would take a reference, or a directory on its way, for; undefined if that is itself */
  add(ref: string): string | undefined {
    const parts = ref.split('/');
    const ways = parts.map((_part, index) => parts.slice(0, index + 1).join('/'));
    for (const way of ways) {
      const there = this.#names.get(asOneName(way));
      if (there !== undefined && there !== way) return there;
    }
    for (const way of ways) this.#names.set(asOneName(way), way);
    return undefined;
  }
}
