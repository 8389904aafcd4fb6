import { z } from 'zod';

/** The most images that a worker names; of one that has more, it is not known which it has. */
export const maxNamedImages = 500;
/** A longer name of an image is left out. */
export const maxImageName = 500;

/**
 * What a worker tells the fleet: that it lives, how many turns it takes at once, and what could keep it from one. What it
 * does not say is not known of it.
 */
export const workerPresence = z.object({
  worker: z.string().min(1).max(100),
  /** Turns that it takes at a time; 0 while it takes none. */
  slots: z.int().min(0).max(1_000),
  /** `draining`: it stops when what it runs has ended. `not-ready`: its host can run no turns now. */
  state: z.enum(['ready', 'not-ready', 'draining']).optional(),
  /** The code of what its host lacks. */
  problem: z.string().max(60).optional(),
  /** The cells whose turns it takes. */
  cells: z.array(z.string().max(32)).max(1_000).optional(),
  backends: z.array(z.string().max(32)).max(10).optional(),
  /** The images that its engine has, by every name of theirs. */
  images: z.array(z.string().max(maxImageName)).max(maxNamedImages).optional(),
});
export type WorkerPresence = z.infer<typeof workerPresence>;

/**
 * Whether a list of an engine's images holds one that is asked for; undefined where that cannot be told from names, as of
 * an image that is named by its id.
 */
export function hasImage(images: readonly string[], image: string): boolean | undefined {
  if (/^(sha256:)?[0-9a-f]{12,64}$/.test(image)) return undefined;
  const wanted = fullName(image);
  return images.some((name) => fullName(name) === wanted);
}

/** A name as an engine understands it: without what it would add by itself. */
function fullName(image: string): string {
  const short = image.replace(/^(index\.)?docker\.io\//, '').replace(/^library\//, '');
  return /[:@][^/]*$/.test(short) ? short : `${short}:latest`;
}
