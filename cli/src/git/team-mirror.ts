import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client } from '@suzumio/contract/client/client';
import type { SharedPushView } from '@suzumio/contract/model/shared-repository';
import type { SharedState } from '@suzumio/protocol/shared-repository';
import { Mirror, type SharedSource } from '@suzumio/runner/git/mirror';
import { ownEnv } from '@suzumio/runner/work-tree/run-git';
import { saveFile } from '../files/save-content.js';
import type { OwnRepository } from './own-repository.js';

/** Names the newest push that a mirror has. Without it, the mirror is made anew. */
const newestFile = 'suzumio-newest';

/** How many pushes are asked for at once. */
const atOnce = 1_000;

export interface TeamMirrorOptions {
  readonly api: Pick<Client, 'listSharedRefs' | 'listSharedPushes' | 'getSharedPack'>;
  readonly project: string;
  readonly own: OwnRepository;
  readonly env: NodeJS.ProcessEnv;
  /** Is told what was left out, and why. */
  readonly log: (line: string) => void;
}

/**
 * Brings the mirror of a team's shared repository up to date: a bare repository beside a person's own, which may be deleted. It holds
 * what the server has and nothing else, all of it whole, so that it says what a push need not bring.
 *
 * @returns its path
 */
export async function teamMirror({ api, project, own, env, log }: TeamMirrorOptions): Promise<string> {
  const path = join(own.commonDir, 'suzumio', `${project}.git`);
  const source = new ApiSource(api, project);
  // A project of this name may be another one by now, or restored from a backup.
  if (!(await source.has(await newestOf(path)))) await rm(path, { recursive: true, force: true });
  const leftOut: string[] = [];
  const mirror = new Mirror(path, source, ownEnv(env), (line) => {
    leftOut.push(line);
    log(line);
  });
  await mirror.update();
  if (leftOut.length === 0 && source.newest) await writeFile(join(path, newestFile), JSON.stringify(source.newest));
  // What failed may succeed the next time.
  else await rm(join(path, newestFile), { force: true });
  return path;
}

type PushMark = Pick<SharedPushView, 'seq' | 'createdAt'>;

async function newestOf(path: string): Promise<PushMark | undefined> {
  try {
    return JSON.parse(await readFile(join(path, newestFile), 'utf8')) as PushMark;
  } catch {
    return undefined;
  }
}

/** The shared repository as the API tells of it. */
class ApiSource implements SharedSource {
  /** The newest push that was seen. */
  newest: PushMark | undefined;
  readonly #sizes = new Map<string, number>();

  constructor(
    private readonly api: TeamMirrorOptions['api'],
    private readonly project: string,
  ) {}

  /** Whether the server has a push of before. */
  async has(mark: PushMark | undefined): Promise<boolean> {
    if (mark === undefined) return false;
    const [push] = (await this.#pushes(mark.seq - 1, 1)).items;
    const isThere = push?.seq === mark.seq && push.createdAt === mark.createdAt;
    if (isThere) this.newest = push;
    return isThere;
  }

  async state(after: number): Promise<SharedState> {
    // Before the pushes, so that what the references are at is in one of those.
    const { items: refs } = await this.api.listSharedRefs({ project: this.project });
    const packs: SharedState['packs'] = [];
    let next: number | undefined = after;
    while (next !== undefined && packs.length === 0) {
      const part = await this.#pushes(next, atOnce);
      for (const push of part.items) {
        this.newest = push;
        const { seq, pack } = push;
        if (pack === null) continue;
        packs.push({ push: seq, sha256: pack.sha256, sizeBytes: pack.sizeBytes });
        this.#sizes.set(pack.sha256, pack.sizeBytes);
      }
      next = part.next;
    }
    return { refs: refs.map(({ ref, id }) => ({ ref, id })), packs, more: next !== undefined };
  }

  async receive(sha256: string, file: string): Promise<void> {
    const sizeBytes = this.#sizes.get(sha256) ?? 0;
    const { project } = this;
    await saveFile(file, { sha256, sizeBytes }, () => this.api.getSharedPack({ project, pack: sha256 }), {
      force: false,
    });
  }

  #pushes(after: number, limit: number): Promise<{ items: SharedPushView[]; next?: number }> {
    return this.api.listSharedPushes({ project: this.project, query: { after, limit, order: 'asc' } });
  }
}
