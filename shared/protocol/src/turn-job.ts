import { z } from 'zod';
import { priority, projectId, turnId } from './ids.js';

/** What a turn job says: which turn, of which cell. Facts are in the store; a job only points at them. */
export const turnJob = z.object({
  cell: z.string().regex(/^[a-z0-9][a-z0-9-]{0,31}$/),
  project: projectId,
  epoch: z.int().positive(),
  turn: turnId,
  delivery: z.int().positive(),
  /** How urgent its turn was when it was put on the queue. The queue itself does not look at it. */
  priority,
});
export type TurnJob = z.infer<typeof turnJob>;
/** What names a job in the turn queue. */
export type TurnJobRef = Pick<TurnJob, 'cell' | 'epoch' | 'turn' | 'delivery'>;

/** A turn job's id in the queue: another delivery of the same turn is another job. */
export function turnJobId(job: TurnJobRef): string {
  return `${job.cell}.${String(job.epoch)}.${job.turn}.${String(job.delivery)}`;
}
