import * as z from 'zod';
import { agentId, projectId, sha256, turnId } from './ids.js';

// The repository that the agents of a project share. Git runs in their containers alone: a push is a pack, which is stored
// as it came, and a transaction that moves references; a fetch is the references, and the packs that are not there yet.

/** Where a runner sends a push. */
export const pushPath = '/git/push';

/** The largest pack that one push may send. */
export const maxPackBytes = 128 * 1024 * 1024;

/** How many objects a pack may have, and what they may come to when they are unpacked. */
export const maxPackObjects = 500_000;
export const maxUnpackedBytes = 4 * 1024 ** 3;

/** The largest object of a pack, unpacked. */
export const maxObjectBytes = 256 * 1024 * 1024;

/** How many references a project's repository may have, and how many of them one push may move. */
export const maxRefs = 1_000;
export const maxPushedRefs = 50;

/** How many packs one answer names. */
export const maxListedPacks = 1_000;

/** The branch that a clone begins with. */
export const defaultBranch = 'refs/heads/main';

/** The id of a commit, or of a tag's object. */
export const objectId = z.string().regex(/^[0-9a-f]{40}$/);

const refName = 'expected the whole name of a branch or tag that Git takes, such as refs/heads/main';

/** A branch or a tag by its whole name, as Git itself restricts names; none that its commands would take for more than a name. */
export const sharedRef = z
  .string()
  .max(250)
  .regex(/^refs\/(?:heads|tags)\/[^\0-\x20\x7f~^:?*[\\]+$/, refName)
  .refine(
    (name) => !/\.\.|@\{|\/\/|\/[.-]|\.(?:\/|$)|\/$|\.lock(?:\/|$)/.test(name) && !/^refs\/\w+\/HEAD$/.test(name),
    refName,
  );

/** As Git keeps references: each part of a name is one of a file, of 255 bytes with the lock's ending. */
const maxPartBytes = 250;

/** Whether Git can have a reference of this name on a disk. One that cannot would keep it from moving any other. */
export function fitsOnDisk(ref: string): boolean {
  return ref.isWellFormed() && ref.split('/').every((part) => Buffer.byteLength(part) <= maxPartBytes);
}

/** A reference moved from one object to another; null where it was not there, or is to be no longer. */
export const refUpdate = z.strictObject({ ref: sharedRef, from: objectId.nullable(), to: objectId.nullable() });
export type RefUpdate = z.infer<typeof refUpdate>;

/** The body of `POST /git/push`. All of its references are moved, or none. */
export const pushRequest = z.object({
  project: projectId,
  agent: agentId,
  turn: turnId,
  /** Names the push within its turn: the same one is answered the same again. */
  key: z.string().regex(/^[\w-]{8,64}$/),
  /** The pack, which was put to `/git/packs/<sha256>` before; none where no object is new. */
  pack: sha256.optional(),
  updates: z.array(refUpdate).min(1).max(maxPushedRefs),
});
export type PushRequest = z.infer<typeof pushRequest>;

export const pushAnswer = z.object({ push: z.int().positive() });

/** The answer of `GET /git?after=<push>`: all references, and the packs of the pushes after that one. */
export const sharedState = z.object({
  refs: z.array(z.object({ ref: sharedRef, id: objectId })).max(maxRefs),
  packs: z.array(z.object({ push: z.int().positive(), sha256, sizeBytes: z.int().positive() })).max(maxListedPacks),
  /** Whether there are more packs after these. */
  more: z.boolean(),
});
export type SharedState = z.infer<typeof sharedState>;

/** The repository that an agent shares with others, as its runner is told of it. */
export const sharedRepository = z.object({
  /** The branch that is the agent's own. */
  branch: z.string(),
  /** Whether it may move every branch and tag. */
  maintains: z.boolean(),
});
export type SharedRepository = z.infer<typeof sharedRepository>;

/** The remote of every clone in the sandbox, and its address. */
export const sharedRemote = 'shared';
export const sharedUrl = 'suzumio::shared';

/** Stands among the toolpacks that an image's runner carries out, where Git finds its helper for that address there. */
export const sharedPack = 'git';

/** What a model is told of it. */
export function sharedText({ branch, maintains }: SharedRepository): string {
  const others = maintains ? 'every other branch and tag, too' : 'no other one';
  return (
    `The agents of this project share a Git repository: the remote "${sharedRemote}" of every repository in your workspace ` +
    `(git clone ${sharedUrl} where you have none). You may push your own branch, ${branch}, and branches below ${branch}/; ` +
    `${others}. Fetch what others have pushed with git fetch ${sharedRemote}.`
  );
}
