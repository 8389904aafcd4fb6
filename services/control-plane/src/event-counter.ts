import { nanoPerUsd } from '@suzumio/core/budgets/model-cost';
import type { EventType } from '@suzumio/contract/model/event';
import type { Metrics } from '@suzumio/runtime/observability/metrics';
import type { AppendedEvent } from '@suzumio/store/projects/project-store';

type Counts = { readonly [Type in EventType]?: (event: Extract<AppendedEvent, { type: Type }>) => void };

/**
 * Counts what happened by its events: each event is appended once and by one process, so the sum over all processes is
 * exact.
 */
export function eventCounter(metrics: Metrics): (event: AppendedEvent) => void {
  const counts: Counts = {
    'message.created': ({ agent, data }) =>
      metrics.mailAccepted.inc({ sender: agent === null ? data.sender : 'agent' }),
    'turn.started': ({ data: { attempt, sinceQueuedMs } }) => {
      if (attempt === 1) metrics.stageDuration.observeMs({ stage: 'scheduled' }, sinceQueuedMs);
    },
    'turn.requeued': ({ data }) => metrics.turnsRequeued.inc({ code: data.code }),
    'turn.completed': () => metrics.turnsEnded.inc({ outcome: 'completed', code: 'none' }),
    'turn.failed': ({ data }) => metrics.turnsEnded.inc({ outcome: 'failed', code: data.code }),
    'model.answered': ({ data }) => {
      metrics.modelTokens.inc({ direction: 'in' }, data.inputTokens);
      metrics.modelTokens.inc({ direction: 'out' }, data.outputTokens);
      metrics.modelCost.inc({}, data.nanoUsd / nanoPerUsd);
    },
    'git.pushed': ({ data }) => {
      metrics.gitPushes.inc({});
      metrics.gitPushedBytes.inc({}, data.sizeBytes);
    },
    'turn.cancelled': () => metrics.turnsEnded.inc({ outcome: 'cancelled', code: 'none' }),
  };
  return (event) => (counts[event.type] as ((event: AppendedEvent) => void) | undefined)?.(event);
}
