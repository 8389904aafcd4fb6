import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { type ProjectConfig, USER_ID } from '@suzumio/contract/model/project-config';
import { fitsOnDisk, maxRefs, type RefUpdate, type SharedRepository } from '@suzumio/protocol/shared-repository';
import { projectRow } from '../rows.js';
import type { SqlReader } from '../sqlite/sql.js';
import type { Tx } from '../sqlite/tx.js';
import { isPushed } from './shared-repository.js';
import { passedQuota, quotaExceeded } from './stored-bytes.js';

// What pushes to the shared repository have in common, and those of people. Those of agents are in `turns/push-to-shared.ts`.

/** A pack that is stored, and was found to be one. */
export interface CheckedPack {
  sha256: string;
  sizeBytes: number;
  objects: number;
}

/** Who pushes what. */
interface NewPush {
  /** An agent, or the name of the token that a person used. */
  actor: string;
  /** The agent's turn; none where a person pushes. */
  by?: { agent: string; turn: string; attempt: number; key: string };
  updates: readonly RefUpdate[];
  pack: CheckedPack | undefined;
}

/** A person is bound by no branch's name. */
const allRefs: SharedRepository = { branch: '', maintains: true };

/**
 * Moves references for a person: all that are named, or none.
 *
 * @returns the push's number
 * @throws SuzumioError `git-not-shared`, `project-closed`, `quota-exceeded`; what {@link requirePushable} throws
 */
export function pushByPerson(tx: Tx, push: Omit<NewPush, 'by'>): number {
  requireTakesPushes(tx, tx.config);
  const passed = passedQuota(tx, tx.storage, USER_ID, 'rows');
  if (passed) throw quotaExceeded(passed);
  requirePushable(tx, allRefs, push.updates);
  return recordPush(tx, push);
}

/**
 * Requires that people may push to a project.
 *
 * @throws SuzumioError `git-not-shared`, `project-closed`
 */
export function requireTakesPushes(reader: SqlReader, config: ProjectConfig): void {
  requireSharing(config);
  if (projectRow(reader).status !== 'completed') return;
  throw new SuzumioError('project-closed', `The project ${config.name} is completed: nothing in it changes any more.`);
}

/** @throws SuzumioError `git-not-shared` */
export function requireSharing({ name, git }: ProjectConfig): void {
  if (git?.shared !== true) throw notShared(name);
}

export function notShared(project: string): SuzumioError {
  return new SuzumioError(
    'git-not-shared',
    `The agents of ${project} share no repository: its file says nothing of git: { shared: true }.`,
  );
}

/** Writes a push, and moves the references that it names. Returns its number. */
export function recordPush(tx: Tx, { actor, by, updates, pack }: NewPush): number {
  const seq = tx.insert('git_pushes', {
    actor,
    agent_id: by?.agent ?? null,
    turn_id: by?.turn ?? null,
    attempt: by?.attempt ?? null,
    key: by?.key ?? null,
    pack: pack?.sha256 ?? null,
    pack_bytes: pack?.sizeBytes ?? 0,
    pack_objects: pack?.objects ?? 0,
    updates_json: JSON.stringify(updates),
    created_at_ms: tx.nowMs,
  });
  // One that came again stays where it came first.
  if (pack && !isPushed(tx, pack.sha256)) tx.insert('git_packs', { push_seq: seq, sha256: pack.sha256 });
  for (const { ref, to } of updates) {
    if (to === null) tx.run('DELETE FROM git_refs WHERE name = :ref', { ref });
    else {
      tx.run(
        `INSERT INTO git_refs (name, object_id, push_seq) VALUES (:ref, :to, :seq)
         ON CONFLICT (name) DO UPDATE SET object_id = :to, push_seq = :seq`,
        { ref, to, seq },
      );
    }
  }
  tx.emit({
    type: 'git.pushed',
    actor,
    agent: by?.agent,
    turn: by?.turn,
    data: { push: seq, updates: [...updates], objects: pack?.objects ?? 0, sizeBytes: pack?.sizeBytes ?? 0 },
  });
  return seq;
}

/**
 * Requires that these references may be moved from where they are said to be.
 *
 * @throws SuzumioError `git-ref-refused`, `git-ref-moved`, `git-refs-full`
 */
export function requirePushable(
  reader: SqlReader,
  { branch, maintains }: SharedRepository,
  updates: readonly RefUpdate[],
): void {
  const refs = new Map(
    reader
      .all<{ name: string; id: string }>('SELECT name, object_id AS id FROM git_refs')
      .map(({ name, id }) => [name, id]),
  );
  const seen = new Set<string>();
  for (const { ref, from, to } of updates) {
    if (seen.has(ref)) throw new SuzumioError('git-ref-refused', `${ref} is moved twice by one push.`);
    seen.add(ref);
    if (from === to) throw new SuzumioError('git-ref-refused', `${ref} is not moved by this push: leave it out.`);
    if (!maintains && !isOwn(ref, branch)) {
      throw new SuzumioError(
        'git-ref-refused',
        `${ref} is not yours to move: push to ${branch} or below ${branch}/, and ask whoever maintains the repository to merge it.`,
      );
    }
    const now = refs.get(ref) ?? null;
    if (now !== from) {
      throw new SuzumioError(
        'git-ref-moved',
        `${ref} is ${now === null ? 'not there' : `at ${now}`} meanwhile: fetch, and push again.`,
        { ref, at: now },
      );
    }
    if (to !== null && !fitsOnDisk(ref)) {
      throw new SuzumioError(
        'git-ref-refused',
        'A name of a branch or tag has at most 250 bytes between two slashes, in whole characters: use a shorter one.',
        { ref },
      );
    }
    if (to === null) refs.delete(ref);
    else refs.set(ref, to);
  }
  if (refs.size > maxRefs) {
    throw new SuzumioError(
      'git-refs-full',
      `The shared repository has at most ${String(maxRefs)} branches and tags: delete some.`,
    );
  }
  const names = [...refs.keys()];
  for (const { ref, to } of updates) {
    const beside = to === null ? undefined : names.find((name) => isBelow(name, ref) || isBelow(ref, name));
    if (beside !== undefined) {
      throw new SuzumioError('git-ref-refused', `${ref} and ${beside} cannot both be there: use another name.`);
    }
  }
}

/** Whether a branch or a tag is an agent's own: named as its branch, or below that name. */
function isOwn(ref: string, branch: string): boolean {
  const name = ref.replace(/^refs\/(?:heads|tags)\//, '');
  return name === branch || isBelow(name, branch);
}

function isBelow(name: string, above: string): boolean {
  return name.startsWith(above) && name[above.length] === '/';
}
