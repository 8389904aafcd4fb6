import { nanoPerUsd } from '@suzumio/core/budgets/model-cost';
import type { EventType } from '@suzumio/contract/model/event';
import type { Metrics } from '@suzumio/runtime/observability/metrics';
import type { AppendedEvent } from '@suzumio/store/projects/project-store';

/**
 * Counts what happened by its events: each event is appended once and by one process, so the sum over all processes is
 * exact.
 */
export function eventCounter(metrics: Metrics): (event: AppendedEvent) => void {
  const counts: Partial<Record<EventType, (event: AppendedEvent) => void>> = {
    'message.created': ({ agent, data }) =>
      metrics.mailAccepted.inc({ sender: agent === null ? String(data['sender']) : 'agent' }),
    'turn.started': ({ data: { attempt, sinceQueuedMs } }) => {
      if (attempt === 1) metrics.stageDuration.observeMs({ stage: 'scheduled' }, Number(sinceQueuedMs));
    },
    'turn.requeued': ({ data }) => metrics.turnsRequeued.inc({ code: String(data['code']) }),
    'turn.completed': () => metrics.turnsEnded.inc({ outcome: 'completed', code: 'none' }),
    'turn.failed': ({ data }) => metrics.turnsEnded.inc({ outcome: 'failed', code: String(data['code']) }),
    'model.answered': ({ data }) => {
      metrics.modelTokens.inc({ direction: 'in' }, Number(data['inputTokens']));
      metrics.modelTokens.inc({ direction: 'out' }, Number(data['outputTokens']));
      metrics.modelCost.inc({}, Number(data['nanoUsd']) / nanoPerUsd);
    },
    'turn.cancelled': () => metrics.turnsEnded.inc({ outcome: 'cancelled', code: 'none' }),
  };
  return (event) => counts[event.type]?.(event);
}
