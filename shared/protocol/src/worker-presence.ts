import * as z from 'zod';

/** How many images a worker announces; if it has more, its list is not known. */
export const maxNamedImages = 500;
/** Longer image names are left out. */
export const maxImageName = 500;

/** A worker's announcement to the fleet: its capacity, and what limits it. Absent fields are unknown. */
export const workerPresence = z.object({
  worker: z.string().min(1).max(100),
  /** Concurrent turns; 0 while it takes none. */
  slots: z.int().min(0).max(1_000),
  /** `draining`: it stops once its turns have ended. `not-ready`: its host can run no turns now. */
  state: z.enum(['ready', 'not-ready', 'draining']).optional(),
  /** The code of its host's problem. */
  problem: z.string().max(60).optional(),
  /** The cells that it serves. */
  cells: z.array(z.string().max(32)).max(1_000).optional(),
  /** The cells that do not accept it, and the codes of their refusals. */
  refusedBy: z
    .array(z.object({ cell: z.string().max(32), code: z.string().max(60) }))
    .max(1_000)
    .optional(),
  /** Turns that it runs now. */
  busy: z.int().min(0).max(1_000).optional(),
  version: z.string().max(60).optional(),
  /** The commit that it was built from. */
  commit: z.string().max(60).optional(),
  /** The name of its host, as the system there says it. */
  host: z.string().max(255).optional(),
  backends: z.array(z.string().max(32)).max(10).optional(),
  /** The images of its engine, by all of their names. */
  images: z.array(z.string().max(maxImageName)).max(maxNamedImages).optional(),
});
export type WorkerPresence = z.infer<typeof workerPresence>;

/** How long a worker that fell silent without a farewell is remembered. */
export const lostWorkerMs = 24 * 60 * 60_000;
/** How many of those, the latest ones, are named. */
export const maxLostWorkers = 200;

/** The last announcement of a worker that has fallen silent without a farewell. */
export interface LostWorker {
  presence: WorkerPresence;
  /** Since its last announcement. */
  silentMs: number;
}

/** A worker as a cell sees it: where that refuses it, it can run none of its turns. Undefined for a worker of other cells. */
export function asSeenBy(cell: string, presence: WorkerPresence): WorkerPresence | undefined {
  const refused = presence.refusedBy?.find((one) => one.cell === cell);
  if (!refused) return (presence.cells?.includes(cell) ?? true) ? presence : undefined;
  const state = presence.state === 'draining' ? 'draining' : 'not-ready';
  return { ...presence, slots: 0, state, problem: refused.code };
}

/**
 * Whether an engine's images include a requested one; undefined where names cannot tell, for instance for an image that
 * is requested by id.
 */
export function hasImage(images: readonly string[], image: string): boolean | undefined {
  if (/^(sha256:)?[0-9a-f]{12,64}$/.test(image)) return undefined;
  const wanted = fullName(image);
  return images.some((name) => fullName(name) === wanted);
}

/** A normalized name: without what the engine adds itself. */
function fullName(image: string): string {
  const short = image.replace(/^(index\.)?docker\.io\//, '').replace(/^library\//, '');
  return /[:@][^/]*$/.test(short) ? short : `${short}:latest`;
}
