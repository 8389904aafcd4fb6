import { z } from 'zod';
import { projectId } from '@suzumio/protocol/ids';
import { turnJob } from '@suzumio/protocol/turn-job';

/** What a wake says. */
export const wakeJob = z.object({ project: projectId });
export type WakeJob = z.infer<typeof wakeJob>;

/**
 * The priority of every turn job in BullMQ, so that jobs are taken in the order in which they came: how urgent a turn is
 * decides which turn of its own project is put on the queue next. Jobs without a priority would be taken first.
 *
 * In 0.1.0 a job had the priority of its mail, 1 to 4, and lower numbers go first: this is the highest of them, so that
 * what was on the queue at an upgrade is taken before what comes later.
 */
export const turnJobPriority = 4;

/**
 * The catalogue of queues: each name, payload, lifetime and retry rule in one place. Neither queue retries: a wake
 * that fails is healed by the sweep, a turn job's outcome is decided in the store.
 */
export const queues = {
  /** One per cell: only that cell's schedulers take its wakes. At most `concurrency` projects at a time. */
  wakes: {
    name: (cell: string) => `wakes-${cell}`,
    schema: wakeJob,
    attempts: 1,
    lockDurationMs: 5_000,
    concurrency: 8,
  },
  /** Shared by all cells on a Redis: a worker fleet serves several. */
  turns: { name: 'turns', schema: turnJob, attempts: 1, lockDurationMs: 5_000 },
} as const;

/** How long a worker counts as living after it said so. */
export const presenceMs = 10_000;

/**
 * What the place of a turn in the queue is held under: its agent has no other turn that waits. A place is taken before the
 * turn's job is put on the queue and given back by the turn's claim.
 */
export function placeOf({ project, agent }: { project: string; agent: string }): string {
  return `${project}/${agent}`;
}

/** The project and the agent whose turn holds a place. */
export function holderOf(place: string): { project: string; agent: string } {
  const [project = '', agent = ''] = place.split('/');
  return { project, agent };
}
