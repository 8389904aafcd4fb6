import type { Metrics } from '@suzumio/runtime/observability/metrics';
import { counted } from '../../../test/support/counted.js';

/** How many rounds of a kind a scheduler has made. */
export const roundsIn = (metrics: Metrics, round: 'sweep' | 'leases'): Promise<number> =>
  counted(metrics, 'suzumio_sweep_duration_seconds', { round, le: '+Inf' });
