import { collectDefaultMetrics, Registry } from 'prom-client';
import { failureCodes } from '@suzumio/protocol/failure-codes';
import { scriptSteps } from '@suzumio/protocol/sandbox-steps';
import { servedToolpacks, toolsOfPacks } from '@suzumio/protocol/tool-names';
import { storedKinds } from '@suzumio/contract/model/storage';
import { defineCounter, defineGauge, defineHistogram, defineLabelledGauge } from './instruments.js';

/** Why a worker stops an attempt early. */
const stopReasons = [
  'cancelled',
  'fenced',
  'superseded',
  'time-limit',
  'workspace-too-large',
  'disk-full',
  'shutdown',
  'capture-failed',
  'lingering',
] as const;

/**
 * Every metric of Suzumio. A new one is one more entry here: its name with prefix and unit, a sentence of help, and
 * the values its labels may have. Ids (project, agent, turn) are never labels.
 *
 * @param service becomes the label `service` of every series of this registry
 */
export function createMetrics(service: string) {
  const registry = new Registry();
  registry.setDefaultLabels({ service });
  collectDefaultMetrics({ register: registry });
  // Gauges named like counters, with the same values as those without `_total`.
  for (const kind of ['handles', 'requests', 'resources']) registry.removeSingleMetric(`nodejs_active_${kind}_total`);
  return {
    registry,

    mailAccepted: defineCounter(registry, {
      name: 'suzumio_mail_accepted_total',
      help: 'Messages accepted, by who sent them; the notices of the system are its own.',
      labels: { sender: ['user', 'agent', 'system'] },
    }),
    requestsRefused: defineCounter(registry, {
      name: 'suzumio_requests_refused_total',
      help: 'Requests refused for who sent them, for where they came from, or because the attempt that sent them is over.',
      labels: {
        code: [
          'unauthenticated',
          'forbidden',
          'policy-denied',
          'foreign-host',
          'foreign-origin',
          'rate-limited',
          'token-rejected',
          'attempt-over',
        ],
      },
    }),
    turnsEnded: defineCounter(registry, {
      name: 'suzumio_turns_ended_total',
      help: 'Turns that ended, with the failure code of those that failed (`none` otherwise); one that is retried ends again.',
      labels: { outcome: ['completed', 'failed', 'cancelled'], code: ['none', ...Object.keys(failureCodes)] },
    }),
    turnsRequeued: defineCounter(registry, {
      name: 'suzumio_turns_requeued_total',
      help: 'Attempts that failed and left their turn to another attempt, by why they failed.',
      labels: { code: Object.keys(failureCodes) },
    }),
    turnsQueued: defineGauge(registry, {
      name: 'suzumio_turns_queued',
      help: 'Turns of the whole cell that wait for a worker, as the last sweep found them.',
    }),
    turnsRunning: defineGauge(registry, {
      name: 'suzumio_turns_running',
      help: 'Turns of the whole cell that run, as the last sweep found them.',
    }),
    storedBytes: defineLabelledGauge(registry, {
      name: 'suzumio_stored_bytes',
      help: 'What is stored of all projects, by what it is, as each was last looked at.',
      labels: { kind: [...storedKinds] },
    }),
    projectsOverQuota: defineGauge(registry, {
      name: 'suzumio_projects_over_quota',
      help: 'Projects that have reached a quota, their own or one of their agents, as each was last looked at.',
    }),
    diskFree: defineGauge(registry, {
      name: 'suzumio_disk_free_bytes',
      help: 'What is left of the disk that the data directory is on, as the last sweep found it.',
    }),
    diskShort: defineLabelledGauge(registry, {
      name: 'suzumio_disk_short',
      help: 'Whether so little is left of the disk that this is refused: 1 if it is.',
      labels: { use: ['files', 'rows', 'mail'] },
    }),
    stageDuration: defineHistogram(registry, {
      name: 'suzumio_turn_stage_duration_seconds',
      help: 'How long a turn waited for its first attempt (`scheduled`), and how long each stage of an attempt took.',
      labels: { stage: ['scheduled', 'claimed', 'prepared', 'started', 'ran', 'captured', 'reported', 'total'] },
      bucketsMs: [1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 15_000, 60_000, 300_000, 900_000],
    }),
    claims: defineCounter(registry, {
      name: 'suzumio_claims_total',
      help: 'Claims of turns by workers, by what the ToolHost made of them.',
      labels: { outcome: ['granted', 'repeated', 'refused', 'nothing-to-do', 'failed'] },
    }),
    workerReady: defineGauge(registry, {
      name: 'suzumio_worker_ready',
      help: 'Whether this worker takes jobs: 0 while its host is not ready.',
    }),
    attemptsRunning: defineGauge(registry, {
      name: 'suzumio_attempts_running',
      help: 'Attempts that this worker is carrying out.',
    }),
    attemptsStopped: defineCounter(registry, {
      name: 'suzumio_attempts_stopped_total',
      help: 'Attempts that a worker stopped before their own end, by why.',
      labels: { reason: stopReasons },
    }),
    captures: defineCounter(registry, {
      name: 'suzumio_captures_total',
      help: 'Captures of workspaces while their turns ran, by what became of them; one that fails ends its attempt.',
      labels: { outcome: ['taken', 'failed'] },
    }),
    capturedBytes: defineCounter(registry, {
      name: 'suzumio_captured_bytes_total',
      help: 'What captures of workspaces uploaded while their turns ran.',
      labels: {},
    }),
    captureDuration: defineHistogram(registry, {
      name: 'suzumio_capture_duration_seconds',
      help: 'How long captures of workspaces took while their turns ran, uploads included.',
      labels: {},
      bucketsMs: [1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 5_000, 15_000, 60_000],
    }),
    leasesExpired: defineCounter(registry, {
      name: 'suzumio_leases_expired_total',
      help: 'Attempts ended because their worker was not heard of in time.',
      labels: {},
    }),
    turnJobs: defineCounter(registry, {
      name: 'suzumio_turn_jobs_total',
      help: 'Turn jobs: put on the queue, put there again because the last one was lost, or not put there because the queue was away.',
      labels: { outcome: ['delivered', 'redelivered', 'undelivered'] },
    }),
    turnJobsTaken: defineCounter(registry, {
      name: 'suzumio_turn_jobs_taken_total',
      help: 'Turn jobs that a worker took from the queue, by what became of its claim.',
      labels: { outcome: ['claimed', 'refused', 'failed'] },
    }),
    turnJobsWaiting: defineGauge(registry, {
      name: 'suzumio_turn_jobs_waiting',
      help: 'Jobs on the turn queue that no worker has taken, of every cell that shares it; not shown while the queue is away.',
    }),
    schedulingFailures: defineCounter(registry, {
      name: 'suzumio_scheduling_failures_total',
      help: 'Looks at a project, and rounds over all of them, that failed, by what caused them.',
      labels: { during: ['wake', 'sweep', 'search', 'leases', 'content', 'refill'] },
    }),
    sweepDuration: defineHistogram(registry, {
      name: 'suzumio_sweep_duration_seconds',
      help: 'Rounds of the scheduler over its projects.',
      labels: { round: ['sweep', 'search', 'leases', 'content'] },
      bucketsMs: [1, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 15_000, 60_000],
    }),
    toolCalls: defineCounter(registry, {
      name: 'suzumio_tool_calls_total',
      help: 'Tool calls, by tool and by what became of them.',
      labels: {
        tool: [...toolsOfPacks(servedToolpacks), ...scriptSteps],
        outcome: ['ok', 'failed', 'refused', 'replayed'],
      },
    }),
    modelCalls: defineCounter(registry, {
      name: 'suzumio_model_calls_total',
      help: 'Questions to providers of models, by what became of them; `held-back` ones were not asked, because the provider is away.',
      labels: { outcome: ['answered', 'unavailable', 'refused', 'held-back'] },
    }),
    modelDuration: defineHistogram(registry, {
      name: 'suzumio_model_call_duration_seconds',
      help: 'How long models took for whole answers.',
      labels: {},
      bucketsMs: [100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 180_000, 600_000],
    }),
    modelTokens: defineCounter(registry, {
      name: 'suzumio_model_tokens_total',
      help: 'Tokens that answers of models used, in and out.',
      labels: { direction: ['in', 'out'] },
    }),
    modelCost: defineCounter(registry, {
      name: 'suzumio_model_cost_usd_total',
      help: 'What answers of models cost, by the prices of their presets.',
      labels: {},
    }),
    storeTransactionDuration: defineHistogram(registry, {
      name: 'suzumio_store_transaction_duration_seconds',
      help: 'Writing transactions on projects, from asking for the lock to their end.',
      labels: { outcome: ['committed', 'rolled-back', 'busy'] },
      bucketsMs: [0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 5_000],
    }),
    sseClients: defineGauge(registry, {
      name: 'suzumio_sse_clients',
      help: 'Event streams that are open.',
    }),
  };
}

export type Metrics = ReturnType<typeof createMetrics>;
