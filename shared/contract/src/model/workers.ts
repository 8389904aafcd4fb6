import { z } from 'zod';
import { numeral, request } from './http-api.js';

// What the HTTP API takes and answers of workers.

/** By name; the list goes on after the one that the part before ended with. */
export const workersQuery = request({
  limit: numeral(1, 100).default(100),
  after: z.string().max(100).optional(),
});

/** A worker, as it last told the fleet of itself. Null is what it has not told. */
export const workerView = z.object({
  worker: z.string(),
  /** `draining`: it stops when what it runs has ended. `not-ready`: its host can run no turns now. */
  state: z.enum(['ready', 'not-ready', 'draining']).nullable(),
  /** The code of what its host lacks. */
  problem: z.string().nullable(),
  /** Turns that it takes at a time; 0 while it takes none. */
  slots: z.int(),
  backends: z.array(z.string()).nullable(),
  /** The images that its Docker has, by name. */
  images: z.array(z.string()).nullable(),
});
export type WorkerView = z.infer<typeof workerView>;

export const workerListAnswer = z.object({
  items: z.array(workerView),
  next: z.exactOptional(z.string()),
  /** How many workers serve other cells only. */
  elsewhere: z.int(),
});
export type WorkerListAnswer = z.infer<typeof workerListAnswer>;
