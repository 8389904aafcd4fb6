import * as z from 'zod';
import { projectId } from '@suzumio/protocol/ids';
import { repositoryDiffJob } from '@suzumio/protocol/repository-diff';
import { turnJob } from '@suzumio/protocol/turn-job';

/** The payload of a wake. */
export const wakeJob = z.object({ project: projectId });
export type WakeJob = z.infer<typeof wakeJob>;

/**
 * The priority of every turn job in BullMQ, so that jobs are taken in order of arrival: a turn's own priority decides
 * which turn of its project is put on the queue next. Jobs without a priority would be taken first.
 *
 * In 0.1.0 a job had its mail's priority, 1 to 4, and lower numbers go first: with 4, jobs from before an upgrade are
 * taken before later ones.
 */
export const turnJobPriority = 4;

/**
 * The catalog of queues: each name, payload, lifetime and retry rule in one place. No queue retries: the sweep
 * makes up for a failed wake, the store decides the outcome of a turn job, and whoever waits for a comparison asks again.
 */
export const queues = {
  /** One per cell: only its own schedulers take its wakes, for up to `concurrency` projects at a time. */
  wakes: {
    name: (cell: string) => `wakes-${cell}`,
    schema: wakeJob,
    attempts: 1,
    lockDurationMs: 5_000,
    concurrency: 8,
  },
  /** Shared by all cells on a Redis: a worker fleet serves several. */
  turns: { name: 'turns', schema: turnJob, attempts: 1, lockDurationMs: 5_000 },
  /** Beside turns, and shared as they are: a project has one such job at a time, and a worker takes one at a time. */
  repositoryDiffs: {
    name: 'repository-diffs',
    schema: repositoryDiffJob,
    attempts: 1,
    lockDurationMs: 5_000,
    concurrency: 1,
  },
} as const;

/** How long an announcement keeps a worker alive. */
export const presenceMs = 10_000;

/**
 * The key of a turn's place in the queue: its agent, which has no other queued turn. A place is taken before the turn's
 * job is put on the queue, and freed by the turn's claim.
 */
export function placeOf({ project, agent }: { project: string; agent: string }): string {
  return `${project}/${agent}`;
}

/** The project and agent of a place. */
export function holderOf(place: string): { project: string; agent: string } {
  const [project = '', agent = ''] = place.split('/');
  return { project, agent };
}
