import { collectDefaultMetrics, Registry } from 'prom-client';
import { failureCodes } from '@suzumio/protocol/failure-codes';
import { answerReading } from '@suzumio/protocol/model-chat';
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
      help: 'Messages accepted, by sender. Notices are sent by the system.',
      labels: { sender: ['user', 'agent', 'system'] },
    }),
    requestsRefused: defineCounter(registry, {
      name: 'suzumio_requests_refused_total',
      help: 'Requests refused because of their token or origin, or because their attempt is over.',
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
      help: 'Turns that ended, with the failure code of failed ones (`none` for others). A retried turn is counted again.',
      labels: { outcome: ['completed', 'failed', 'cancelled'], code: ['none', ...Object.keys(failureCodes)] },
    }),
    turnsRequeued: defineCounter(registry, {
      name: 'suzumio_turns_requeued_total',
      help: 'Failed attempts whose turn was queued again, by failure code.',
      labels: { code: Object.keys(failureCodes) },
    }),
    turnsQueued: defineGauge(registry, {
      name: 'suzumio_turns_queued',
      help: 'Queued turns of the whole cell, at the last sweep.',
    }),
    turnsRunning: defineGauge(registry, {
      name: 'suzumio_turns_running',
      help: 'Running turns of the whole cell, at the last sweep.',
    }),
    storedBytes: defineLabelledGauge(registry, {
      name: 'suzumio_stored_bytes',
      help: 'Bytes stored for all projects, by kind, at the last visit to each.',
      labels: { kind: [...storedKinds] },
    }),
    projectsOverQuota: defineGauge(registry, {
      name: 'suzumio_projects_over_quota',
      help: 'Projects that have reached a quota of their own or of one of their agents, at the last visit to each.',
    }),
    diskFree: defineGauge(registry, {
      name: 'suzumio_disk_free_bytes',
      help: 'Free bytes on the disk of the data directory, at the last sweep.',
    }),
    diskShort: defineLabelledGauge(registry, {
      name: 'suzumio_disk_short',
      help: 'Whether this use of the disk is refused for lack of space: 1 if it is.',
      labels: { use: ['files', 'rows', 'mail'] },
    }),
    stageDuration: defineHistogram(registry, {
      name: 'suzumio_turn_stage_duration_seconds',
      help: 'Time that a turn waited for its first attempt (`scheduled`), and duration of each stage of an attempt.',
      labels: { stage: ['scheduled', 'claimed', 'prepared', 'started', 'ran', 'captured', 'reported', 'total'] },
      bucketsMs: [1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 15_000, 60_000, 300_000, 900_000],
    }),
    claims: defineCounter(registry, {
      name: 'suzumio_claims_total',
      help: 'Claims of turns by workers, by outcome.',
      labels: { outcome: ['granted', 'repeated', 'refused', 'nothing-to-do', 'failed'] },
    }),
    workerReady: defineGauge(registry, {
      name: 'suzumio_worker_ready',
      help: 'Whether this worker takes jobs: 0 while its host is not ready.',
    }),
    attemptsRunning: defineGauge(registry, {
      name: 'suzumio_attempts_running',
      help: 'Attempts that this worker is running.',
    }),
    attemptsStopped: defineCounter(registry, {
      name: 'suzumio_attempts_stopped_total',
      help: 'Attempts that a worker stopped, by reason.',
      labels: { reason: stopReasons },
    }),
    captures: defineCounter(registry, {
      name: 'suzumio_captures_total',
      help: 'Captures of workspaces during their turns, by outcome. A failed capture ends its attempt.',
      labels: { outcome: ['taken', 'failed'] },
    }),
    capturedBytes: defineCounter(registry, {
      name: 'suzumio_captured_bytes_total',
      help: 'Bytes uploaded by captures of workspaces during their turns.',
      labels: {},
    }),
    captureDuration: defineHistogram(registry, {
      name: 'suzumio_capture_duration_seconds',
      help: 'Duration of captures of workspaces during their turns, uploads included.',
      labels: {},
      bucketsMs: [1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 5_000, 15_000, 60_000],
    }),
    leasesExpired: defineCounter(registry, {
      name: 'suzumio_leases_expired_total',
      help: 'Attempts ended because their worker sent no heartbeat in time.',
      labels: {},
    }),
    turnJobs: defineCounter(registry, {
      name: 'suzumio_turn_jobs_total',
      help: 'Turn jobs put on the queue, put on it again because the last one was lost, or not put on it because it was away.',
      labels: { outcome: ['delivered', 'redelivered', 'undelivered'] },
    }),
    turnJobsTaken: defineCounter(registry, {
      name: 'suzumio_turn_jobs_taken_total',
      help: 'Turn jobs taken from the queue, by outcome of the claim.',
      labels: { outcome: ['claimed', 'refused', 'failed'] },
    }),
    turnJobsWaiting: defineGauge(registry, {
      name: 'suzumio_turn_jobs_waiting',
      help: 'Jobs on the turn queue that no worker has taken, of all cells that share it. Missing while the queue is away.',
    }),
    schedulingFailures: defineCounter(registry, {
      name: 'suzumio_scheduling_failures_total',
      help: 'Failed visits to a project and failed rounds over all of them, by what the scheduler was doing.',
      labels: { during: ['wake', 'sweep', 'search', 'leases', 'content', 'refill'] },
    }),
    sweepDuration: defineHistogram(registry, {
      name: 'suzumio_sweep_duration_seconds',
      help: "Duration of the scheduler's rounds over its projects.",
      labels: { round: ['sweep', 'search', 'leases', 'content'] },
      bucketsMs: [1, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 15_000, 60_000],
    }),
    toolCalls: defineCounter(registry, {
      name: 'suzumio_tool_calls_total',
      help: 'Tool calls, by tool and outcome.',
      labels: {
        tool: [...toolsOfPacks(servedToolpacks), ...scriptSteps, 'git.push'],
        outcome: ['ok', 'failed', 'refused', 'replayed'],
      },
    }),
    gitPushes: defineCounter(registry, {
      name: 'suzumio_git_pushes_total',
      help: 'Pushes to the repositories that agents share.',
      labels: {},
    }),
    gitPushedBytes: defineCounter(registry, {
      name: 'suzumio_git_pushed_bytes_total',
      help: 'Bytes of the packs that were pushed to the repositories that agents share.',
      labels: {},
    }),
    modelCalls: defineCounter(registry, {
      name: 'suzumio_model_calls_total',
      help: 'Requests to model providers, by outcome. `held-back` ones were not sent, because the provider is away.',
      labels: { outcome: ['answered', 'unavailable', 'refused', 'held-back'] },
    }),
    answersAskedAgain: defineCounter(registry, {
      name: 'suzumio_model_answers_asked_again_total',
      help: 'Answers after which a model was asked again, by why.',
      labels: { reading: answerReading.exclude(['notes']).options },
    }),
    modelDuration: defineHistogram(registry, {
      name: 'suzumio_model_call_duration_seconds',
      help: 'Time that models took for complete answers.',
      labels: {},
      bucketsMs: [100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 180_000, 600_000],
    }),
    modelTokens: defineCounter(registry, {
      name: 'suzumio_model_tokens_total',
      help: "Tokens of models' answers, in and out.",
      labels: { direction: ['in', 'out'] },
    }),
    modelCost: defineCounter(registry, {
      name: 'suzumio_model_cost_usd_total',
      help: "Dollars that models' answers cost, by the prices of their presets.",
      labels: {},
    }),
    storeTransactionDuration: defineHistogram(registry, {
      name: 'suzumio_store_transaction_duration_seconds',
      help: 'Duration of write transactions on projects, from the request for the lock to their end.',
      labels: { outcome: ['committed', 'rolled-back', 'busy'] },
      bucketsMs: [0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 5_000],
    }),
    sseClients: defineGauge(registry, {
      name: 'suzumio_sse_clients',
      help: 'Open event streams.',
    }),
  };
}

export type Metrics = ReturnType<typeof createMetrics>;
