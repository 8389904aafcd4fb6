/** Every state that something can be in, as it is drawn. */
export type MarkKind =
  | 'quiet'
  | 'queued'
  | 'running'
  | 'asks'
  | 'report'
  | 'failed'
  | 'paused'
  | 'stopped'
  | 'done'
  | 'budget'
  | 'message';
