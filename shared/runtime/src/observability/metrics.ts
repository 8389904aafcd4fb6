import { collectDefaultMetrics, Registry } from 'prom-client';
import { failureCodes } from '@suzumio/protocol/failure-codes';
import { answerReading } from '@suzumio/protocol/model-chat';
import { scriptSteps } from '@suzumio/protocol/sandbox-steps';
import { servedToolpacks, toolsOfPacks } from '@suzumio/protocol/tool-names';
import { waitingKinds } from '@suzumio/contract/model/inbox';
import { projectStatuses } from '@suzumio/contract/model/project-status';
import { storedKinds } from '@suzumio/contract/model/storage';
import { createInstruments } from './instruments.js';

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
  const define = createInstruments(registry, service);
  return {
    registry,

    mailAccepted: define.counter({
      name: 'suzumio_mail_accepted_total',
      of: ['api', 'scheduler', 'toolhost'],
      help: 'Messages accepted, by sender. Notices are sent by the system.',
      labels: { sender: ['user', 'agent', 'system'] },
    }),
    requestsRefused: define.counter({
      name: 'suzumio_requests_refused_total',
      of: ['api', 'scheduler', 'toolhost', 'turn-worker'],
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
    turnsEnded: define.counter({
      name: 'suzumio_turns_ended_total',
      of: ['api', 'scheduler', 'toolhost'],
      help: 'Turns that ended, with the failure code of failed ones (`none` for others). A retried turn is counted again.',
      labels: { outcome: ['completed', 'failed', 'cancelled'], code: ['none', ...Object.keys(failureCodes)] },
      atZero: [
        { outcome: 'completed', code: 'none' },
        { outcome: 'cancelled', code: 'none' },
        ...Object.keys(failureCodes).map((code) => ({ outcome: 'failed', code })),
      ],
    }),
    turnsRequeued: define.counter({
      name: 'suzumio_turns_requeued_total',
      of: ['scheduler', 'toolhost'],
      help: 'Failed attempts whose turn was queued again, by failure code.',
      labels: { code: Object.keys(failureCodes) },
    }),
    turnsQueued: define.gauge({
      name: 'suzumio_turns_queued',
      of: ['scheduler'],
      help: 'Queued turns of the whole cell, at the last sweep.',
    }),
    turnsRunning: define.gauge({
      name: 'suzumio_turns_running',
      of: ['scheduler'],
      help: 'Running turns of the whole cell, at the last sweep.',
    }),
    oldestQueuedTurn: define.gauge({
      name: 'suzumio_oldest_queued_turn_seconds',
      of: ['scheduler'],
      help: 'Age of the turn that has been queued for the longest, at the last sweep; 0 where none is queued.',
    }),
    workers: define.labelledGauge({
      name: 'suzumio_workers',
      of: ['scheduler'],
      help: 'Workers of this cell. `lost` ones fell silent within a day, without a farewell. Missing while the queue is away.',
      labels: { state: ['ready', 'not-ready', 'draining', 'lost'] },
    }),
    projects: define.labelledGauge({
      name: 'suzumio_projects',
      of: ['scheduler'],
      help: 'Projects, by status.',
      labels: { status: [...projectStatuses] },
    }),
    projectsDamaged: define.gauge({
      name: 'suzumio_projects_damaged',
      of: ['scheduler'],
      help: 'Projects whose database is missing, damaged or cannot be read.',
    }),
    waiting: define.labelledGauge({
      name: 'suzumio_waiting_for_person',
      of: ['scheduler'],
      help: 'What waits for a person: submitted reports, failed agents, pauses, budgets that are nearly used, and models that refuse.',
      labels: { kind: [...waitingKinds] },
    }),
    undelivered: define.gauge({
      name: 'suzumio_messages_undelivered',
      of: ['scheduler'],
      help: 'Messages that no turn has answered: those of failed and cancelled turns, until they are delivered again.',
    }),
    budgetLeft: define.gauge({
      name: 'suzumio_budget_left_ratio',
      of: ['scheduler'],
      help: 'The smallest share that is left of any budget, from 0 to 1; 1 where no project has one.',
    }),
    storedBytes: define.labelledGauge({
      name: 'suzumio_stored_bytes',
      of: ['scheduler'],
      help: 'Bytes stored for all projects, by kind, at the last visit to each.',
      labels: { kind: [...storedKinds] },
    }),
    projectsOverQuota: define.gauge({
      name: 'suzumio_projects_over_quota',
      of: ['scheduler'],
      help: 'Projects that have reached a quota of their own or of one of their agents, at the last visit to each.',
    }),
    diskFree: define.gauge({
      name: 'suzumio_disk_free_bytes',
      of: ['scheduler'],
      help: 'Free bytes on the disk of the data directory, at the last sweep.',
    }),
    diskShort: define.labelledGauge({
      name: 'suzumio_disk_short',
      of: ['scheduler'],
      help: 'Whether this use of the disk is refused for lack of space: 1 if it is.',
      labels: { use: ['files', 'rows', 'mail'] },
    }),
    stageDuration: define.histogram({
      name: 'suzumio_turn_stage_duration_seconds',
      of: ['toolhost', 'turn-worker'],
      help: 'Time that a turn waited for its first attempt (`scheduled`), and duration of each stage of an attempt.',
      labels: { stage: ['scheduled', 'claimed', 'prepared', 'started', 'ran', 'captured', 'reported', 'total'] },
      bucketsMs: [1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 15_000, 60_000, 300_000, 900_000],
    }),
    claims: define.counter({
      name: 'suzumio_claims_total',
      of: ['toolhost'],
      help: 'Claims of turns by workers, by outcome.',
      labels: { outcome: ['granted', 'repeated', 'refused', 'nothing-to-do', 'failed'] },
    }),
    workerReady: define.gauge({
      name: 'suzumio_worker_ready',
      of: ['turn-worker'],
      help: 'Whether this worker takes jobs: 0 while its host is not ready.',
    }),
    attemptsRunning: define.gauge({
      name: 'suzumio_attempts_running',
      of: ['turn-worker'],
      help: 'Attempts that this worker is running.',
    }),
    attemptsStopped: define.counter({
      name: 'suzumio_attempts_stopped_total',
      of: ['turn-worker'],
      help: 'Attempts that a worker stopped, by reason.',
      labels: { reason: stopReasons },
    }),
    captures: define.counter({
      name: 'suzumio_captures_total',
      of: ['turn-worker'],
      help: 'Captures of workspaces during their turns, by outcome. A failed capture ends its attempt.',
      labels: { outcome: ['taken', 'failed'] },
    }),
    capturedBytes: define.counter({
      name: 'suzumio_captured_bytes_total',
      of: ['turn-worker'],
      help: 'Bytes uploaded by captures of workspaces during their turns.',
      labels: {},
    }),
    captureDuration: define.histogram({
      name: 'suzumio_capture_duration_seconds',
      of: ['turn-worker'],
      help: 'Duration of captures of workspaces during their turns, uploads included.',
      labels: {},
      bucketsMs: [1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 5_000, 15_000, 60_000],
    }),
    leasesExpired: define.counter({
      name: 'suzumio_leases_expired_total',
      of: ['scheduler'],
      help: 'Attempts ended because their worker sent no heartbeat in time.',
      labels: {},
    }),
    turnJobs: define.counter({
      name: 'suzumio_turn_jobs_total',
      of: ['scheduler'],
      help: 'Turn jobs put on the queue, put on it again because the last one was lost, or not put on it because it was away.',
      labels: { outcome: ['delivered', 'redelivered', 'undelivered'] },
    }),
    turnJobsTaken: define.counter({
      name: 'suzumio_turn_jobs_taken_total',
      of: ['turn-worker'],
      help: 'Turn jobs taken from the queue, by outcome of the claim.',
      labels: { outcome: ['claimed', 'refused', 'failed'] },
    }),
    turnJobsWaiting: define.gauge({
      name: 'suzumio_turn_jobs_waiting',
      of: ['scheduler'],
      help: 'Jobs on the turn queue that no worker has taken, of all cells that share it. Missing while the queue is away.',
    }),
    schedulingFailures: define.counter({
      name: 'suzumio_scheduling_failures_total',
      of: ['scheduler'],
      help: 'Failed visits to a project and failed rounds over all of them, by what the scheduler was doing.',
      labels: { during: ['wake', 'sweep', 'search', 'leases', 'content', 'refill', 'figures', 'check'] },
    }),
    sweepDuration: define.histogram({
      name: 'suzumio_sweep_duration_seconds',
      of: ['scheduler'],
      help: "Duration of the scheduler's rounds over its projects.",
      labels: { round: ['sweep', 'search', 'leases', 'content', 'figures', 'check'] },
      bucketsMs: [1, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 15_000, 60_000],
    }),
    toolCalls: define.counter({
      name: 'suzumio_tool_calls_total',
      of: ['toolhost'],
      help: 'Tool calls, by tool and outcome.',
      labels: {
        tool: [...toolsOfPacks(servedToolpacks), ...scriptSteps, 'git.push'],
        outcome: ['ok', 'failed', 'refused', 'replayed'],
      },
    }),
    gitPushes: define.counter({
      name: 'suzumio_git_pushes_total',
      of: ['api', 'toolhost'],
      help: 'Pushes to the repositories that agents share.',
      labels: {},
    }),
    gitPushedBytes: define.counter({
      name: 'suzumio_git_pushed_bytes_total',
      of: ['api', 'toolhost'],
      help: 'Bytes of the packs that were pushed to the repositories that agents share.',
      labels: {},
    }),
    modelCalls: define.counter({
      name: 'suzumio_model_calls_total',
      of: ['toolhost'],
      help: 'Requests to model providers, by outcome. `held-back` ones were not sent, because the provider is away.',
      labels: { outcome: ['answered', 'unavailable', 'refused', 'held-back'] },
    }),
    answersAskedAgain: define.counter({
      name: 'suzumio_model_answers_asked_again_total',
      of: ['toolhost'],
      help: 'Answers after which a model was asked again, by why.',
      labels: { reading: answerReading.exclude(['notes']).options },
    }),
    modelDuration: define.histogram({
      name: 'suzumio_model_call_duration_seconds',
      of: ['toolhost'],
      help: 'Time that models took for complete answers.',
      labels: {},
      bucketsMs: [100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 180_000, 600_000],
    }),
    modelTokens: define.counter({
      name: 'suzumio_model_tokens_total',
      of: ['toolhost'],
      help: "Tokens of models' answers, in and out.",
      labels: { direction: ['in', 'out'] },
    }),
    modelCost: define.counter({
      name: 'suzumio_model_cost_usd_total',
      of: ['toolhost'],
      help: "Dollars that models' answers cost, by the prices of their presets.",
      labels: {},
    }),
    storeTransactionDuration: define.histogram({
      name: 'suzumio_store_transaction_duration_seconds',
      of: ['api', 'scheduler', 'toolhost'],
      help: 'Duration of write transactions on projects, from the request for the lock to their end.',
      labels: { outcome: ['committed', 'rolled-back', 'busy'] },
      bucketsMs: [0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 5_000],
    }),
    sseClients: define.gauge({
      name: 'suzumio_sse_clients',
      of: ['api'],
      help: 'Open event streams.',
    }),
  };
}

export type Metrics = ReturnType<typeof createMetrics>;
