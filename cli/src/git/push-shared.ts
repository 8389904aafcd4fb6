import { randomUUID } from 'node:crypto';
import { openAsBlob } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '@suzumio/contract/client/client';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { SharedPushView } from '@suzumio/contract/model/shared-repository';
import { oneLine } from '@suzumio/core/prompt/body';
import { maxPackBytes, maxPushedRefs, type RefUpdate, sharedRef } from '@suzumio/protocol/shared-repository';
import { packNew } from '@suzumio/runner/git/pack-new';
import { GitFailed, ownEnv, runGit } from '@suzumio/runner/work-tree/run-git';
import { movedBetween, trackingPrefix } from './fetch-shared.js';
import { idsIn } from './ids-in.js';
import { teamMirror, type TeamMirrorOptions } from './team-mirror.js';

export interface PushOptions extends TeamMirrorOptions {
  readonly api: TeamMirrorOptions['api'] & Pick<Client, 'uploadSharedPack' | 'pushShared'>;
  /** What goes where, as `git push` takes it. Empty: the present branch, under its name. */
  readonly refspecs: readonly string[];
  /** @default as many bytes as the server takes */
  readonly maxBytes?: number;
}

/**
 * Pushes branches and tags of a person's repository to a team's shared one: all of them or none, and no branch other than forward.
 *
 * @returns the push; undefined where everything is there already
 * @throws SuzumioError `git-refused`; what the server refuses it with
 */
export async function pushToTeam(options: PushOptions): Promise<SharedPushView | undefined> {
  const scratch = await mkdtemp(join(tmpdir(), 'suzumio-push-'));
  try {
    const mirror = await teamMirror(options);
    const updates = await pushedInto(scratch, mirror, options);
    if (updates.length === 0) return undefined;
    requireSendable(updates);
    const pushed = await send(updates, scratch, mirror, options);
    await track(updates, options);
    return pushed;
  } catch (error) {
    if (!(error instanceof GitFailed)) throw error;
    throw refused(`git says: ${saidBy(error)}`, error);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** Has Git push into a copy of the mirror: what names mean, and whether a branch goes forward, is up to Git. */
async function pushedInto(scratch: string, mirror: string, { own, env, refspecs, project }: PushOptions) {
  const git = (dir: string) => (args: readonly string[], input?: string) =>
    runGit([`--git-dir=${dir}`, ...args], { env: ownEnv(env), ...(input === undefined ? {} : { input }) });
  const before = await idsIn(git(mirror));
  await makeCopy(git(scratch), scratch, mirror, before);
  const usual = ['push.default=current', 'push.gpgSign=false', 'push.pushOption=', 'push.followTags=false'];
  const settings = [...usual, 'push.recurseSubmodules=no', 'advice.pushUpdateRejected=false'];
  try {
    // The hook before a push is not asked: where this goes is no remote of the person's.
    const push = ['push', '--quiet', '--atomic', '--no-verify', '--', scratch, ...refspecs];
    await own.git([...settings.flatMap((setting) => ['-c', setting]), ...push]);
  } catch (error) {
    if (error instanceof GitFailed) throw behind(error, project) ?? error;
    throw error;
  }
  return movedBetween(before, await idsIn(git(scratch)));
}

async function makeCopy(
  git: (args: readonly string[], input?: string) => Promise<string>,
  scratch: string,
  mirror: string,
  refs: ReadonlyMap<string, string>,
): Promise<void> {
  await git(['init', '--quiet', '--bare', '--template=', '--object-format=sha1']);
  await mkdir(join(scratch, 'objects', 'info'), { recursive: true });
  await writeFile(join(scratch, 'objects', 'info', 'alternates'), `${join(mirror, 'objects')}\n`);
  for (const [key, value] of [
    ['receive.fsckObjects', 'true'],
    ['receive.denyNonFastForwards', 'true'],
    ['receive.denyDeletes', 'false'],
    ['receive.autogc', 'false'],
    ['core.hooksPath', '/dev/null'],
  ] as const) {
    await git(['config', key, value]);
  }
  await git(['update-ref', '--stdin'], [...refs].map(([ref, id]) => `create ${ref} ${id}\n`).join(''));
}

/** Sends what is new, and has the server move the references from where the mirror has them. */
async function send(
  updates: readonly RefUpdate[],
  scratch: string,
  mirror: string,
  { api, project, env, maxBytes = maxPackBytes }: PushOptions,
): Promise<SharedPushView> {
  const file = join(scratch, 'suzumio-pack');
  const known = await idsIn((args) => runGit([`--git-dir=${mirror}`, ...args], { env: ownEnv(env) }));
  const wanted = updates.flatMap(({ to }) => to ?? []);
  const pack = await packNew({ wanted, known: [...known.values()] }, file, { ...ownEnv(env), GIT_DIR: scratch });
  if (pack.sizeBytes > maxBytes) {
    throw refused(
      `a push has at most ${maxBytes} bytes, and this one has ${pack.sizeBytes}: push an older commit of it first.`,
    );
  }
  const isEmpty = pack.objects === 0;
  if (!isEmpty) await api.uploadSharedPack({ project, body: await openAsBlob(file) });
  const body = { updates: [...updates], ...(isEmpty ? {} : { pack: pack.sha256 }) };
  return api.pushShared({ project, body }, { idempotencyKey: randomUUID() });
}

/** Notes where the team's branches are now, as `git push` does. */
async function track(updates: readonly RefUpdate[], { own, project }: PushOptions): Promise<void> {
  const commands = updates
    .filter(({ ref }) => ref.startsWith('refs/heads/'))
    .map(({ ref, to }) => {
      const name = ref.replace('refs/heads/', trackingPrefix(project));
      return to === null ? `delete ${name}\n` : `update ${name} ${to}\n`;
    });
  // It is pushed, whatever becomes of this: the next fetch does the same.
  await own.git(['update-ref', '--stdin'], { input: commands.join('') }).catch(() => undefined);
}

/** @throws SuzumioError `git-refused` */
function requireSendable(updates: readonly RefUpdate[]): void {
  const other = updates.find(({ ref }) => !sharedRef.safeParse(ref).success);
  if (other)
    throw refused(`${oneLine(other.ref)} is not the name of a branch or a tag that the team's repository takes.`);
  if (updates.length > maxPushedRefs) {
    throw refused(`a push moves at most ${maxPushedRefs} branches and tags, and this one moves ${updates.length}.`);
  }
}

/** What to do where Git has refused a branch because the team's has what the person's lacks. */
function behind({ message }: GitFailed, project: string): SuzumioError | undefined {
  const lines = message.matchAll(/^ ! \[.*?\] +\S+ -> (\S+) \((?:non-fast-forward|fetch first|needs force)\)$/gm);
  const names = [...lines].map(([, name = '']) => oneLine(name));
  const [first] = names;
  if (first === undefined) return undefined;
  return refused(
    `${names.join(' and ')} of the team ${names.length === 1 ? 'has' : 'have'} what yours lacks. Fetch it (suzumio git fetch ${project}), merge it (git merge suzumio/${project}/${first}) or rebase, and push again.`,
  );
}

/** What Git says of a push, without where it went. */
function saidBy({ message }: GitFailed): string {
  const lines = message.split('\n').filter((line) => !/^(?:To |error: failed to push some refs)/.test(line));
  return oneLine(lines.map((line) => line.trim()).join('; '));
}

function refused(why: string, cause?: unknown): SuzumioError {
  return new SuzumioError('git-refused', `Nothing was pushed: ${why}`, {}, { cause });
}
