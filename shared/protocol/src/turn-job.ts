import * as z from 'zod';
import { priority, projectId, turnId } from './ids.js';

/** The payload of a turn job. Facts are in the store; a job only points at them. */
export const turnJob = z.object({
  cell: z.string().regex(/^[a-z0-9][a-z0-9-]{0,31}$/),
  project: projectId,
  epoch: z.int().positive(),
  turn: turnId,
  delivery: z.int().positive(),
  /** The turn's priority at the time of delivery. The queue ignores it. */
  priority,
});
export type TurnJob = z.infer<typeof turnJob>;
/** The key of a job in the turn queue. */
export type TurnJobRef = Pick<TurnJob, 'cell' | 'epoch' | 'turn' | 'delivery'>;

/** A turn job's id in the queue: each delivery of a turn has its own. */
export function turnJobId(job: TurnJobRef): string {
  return `${job.cell}.${String(job.epoch)}.${job.turn}.${String(job.delivery)}`;
}
