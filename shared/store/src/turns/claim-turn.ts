import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { backendOf } from '@suzumio/core/config/sandbox-of';
import type { SelectedMail } from '@suzumio/core/prompt/select-mail';
import { externalEngine } from '@suzumio/protocol/handlers';
import { unreadRows } from '../mail/unread-mail.js';
import {
  agentRow,
  type AgentRow,
  type AttemptRow,
  projectRow,
  type ProjectRow,
  turnRow,
  type TurnRow,
} from '../rows.js';
import { newestVersion } from '../sqlite/configs.js';
import type { Tx } from '../sqlite/tx.js';
import { newestCapture } from './captures.js';
import { assertClaimable, type Claimant, isGranted } from './claimable.js';
import { cancelTurn } from './end-turn.js';
import type { FrozenInput } from './frozen-input.js';
import type { PreparedTurn } from './prepare-turn.js';
import { keepToolSet } from './tool-sets.js';
import { noticeTurn } from './turn-notices.js';
import { dropUncaptured } from './uncaptured-steps.js';

export interface Claim extends Claimant {
  turn: string;
  /** The name of the token that the worker showed. */
  credential?: string | undefined;
  leaseMs: number;
  /** The hashes of the new attempt's tokens. */
  hashes: (attempt: number, epoch: number) => { lease: string; tool: string };
  /** Absent where the turn was claimed before. */
  prepared?: PreparedTurn | undefined;
}

export interface Claimed {
  attempt: number;
  epoch: number;
  /** The turn's newest capture; before the first, its agent's snapshot. */
  snapshot: string | null;
  input: FrozenInput;
  leaseUntilMs: number;
  /** Whether this repeats a claim that was granted before. */
  repeated: boolean;
}

/**
 * Gives a queued turn to a worker: a new attempt with a lease. The first claim marks the prompt's mail as read and
 * freezes the input. The same `claimId` gets the same answer for as long as its attempt runs; a handler's gets a lease
 * of full length with it. Turns of external agents go to handlers only.
 *
 * Returns `stale` when the inbox, the workspace or the project's file is not what the prompt was rendered from: render again.
 *
 * @throws SuzumioError `claim-refused`, `attempt-over`, `turn-unknown`
 */
export function claimTurn(tx: Tx, claim: Claim): Claimed | 'stale' | 'nothing-to-do' {
  const turn = turnRow(tx, claim.turn);
  const of = { turn, agent: agentRow(tx, turn.agent_id), project: projectRow(tx) };
  const repeated = repeatedClaim(tx, of, claim);
  if (repeated) return repeated;
  assertClaimable(tx, of, claim);
  if (turn.input_json !== null) return startAttempt(tx, of, claim);
  if (!claim.prepared || !sameMail(tx, turn.agent_id, claim.prepared.mail)) return 'stale';
  const { snapshot, configVersion } = claim.prepared;
  if (configVersion !== newestVersion(tx)) return 'stale';
  if (snapshot !== undefined && snapshot !== of.agent.snapshot) return 'stale';
  if (claim.prepared.mail.length === 0) {
    cancelTurn(tx, turn, 'there was no unread mail left', 'system');
    return 'nothing-to-do';
  }
  return startAttempt(tx, { ...of, turn: freeze(tx, turn, claim.prepared) }, claim);
}

/** The rows that a claim is about. */
interface ClaimedRows {
  turn: TurnRow;
  agent: AgentRow;
  project: ProjectRow;
}

function repeatedClaim(tx: Tx, of: ClaimedRows, { claimId, leaseMs }: Claim): Claimed | undefined {
  const { turn } = of;
  const earlier = tx.get<AttemptRow>(
    `SELECT * FROM turn_attempts WHERE turn_id = :turn AND claim_id = :claimId AND ${isGranted}`,
    { turn: turn.id, claimId },
  );
  if (!earlier) return undefined;
  if (earlier.status !== 'running') {
    throw new SuzumioError('attempt-over', `Attempt ${String(earlier.number)} of ${turn.id} is over.`, {
      turn: turn.id,
    });
  }
  const leaseUntilMs = earlier.engine === externalEngine ? renewed(tx, earlier, leaseMs) : earlier.lease_until_ms;
  return { ...claimed(tx, of, earlier.number), leaseUntilMs, repeated: true };
}

/** Extends a lease, so that what hands the earlier answer back finds that there is a later one. */
function renewed(tx: Tx, { turn_id: turn, number, lease_until_ms }: AttemptRow, leaseMs: number): number {
  const until = Math.max(tx.nowMs + leaseMs, lease_until_ms + 1);
  tx.run('UPDATE turn_attempts SET lease_until_ms = :until WHERE turn_id = :turn AND number = :number', {
    until,
    turn,
    number,
  });
  return until;
}

/** Whether the rendered mail is still unread and unchanged, and nothing more urgent has arrived. */
function sameMail(tx: Tx, agent: string, mail: readonly SelectedMail[]): boolean {
  const now = unreadRows(tx, agent, Math.max(mail.length, 1));
  return (
    now.length === mail.length &&
    now.every(({ seq, body }, index) => {
      const rendered = mail[index];
      return rendered !== undefined && seq === rendered.seq && body.startsWith(rendered.body);
    })
  );
}

/** @returns the turn as it is now */
function freeze(tx: Tx, turn: TurnRow, prepared: PreparedTurn): TurnRow {
  for (const message of prepared.mail) {
    tx.run('DELETE FROM inbox WHERE recipient = :agent AND priority = :priority AND message_seq = :seq', {
      agent: turn.agent_id,
      priority: message.priority,
      seq: message.seq,
    });
    tx.insert('message_reads', {
      message_id: message.id,
      recipient: turn.agent_id,
      turn_id: turn.id,
      read_at_ms: tx.nowMs,
    });
  }
  if (prepared.toolSet) keepToolSet(tx, prepared.toolSet);
  const { prompt, promptSeq, inputJson, configVersion } = prepared;
  tx.run(
    `UPDATE turns SET prompt = :prompt, prompt_seq = :promptSeq, input_json = :inputJson, config_version = :configVersion
     WHERE id = :turn`,
    { turn: turn.id, prompt, promptSeq, inputJson, configVersion },
  );
  return { ...turn, prompt_seq: promptSeq, input_json: inputJson, config_version: configVersion };
}

function startAttempt(tx: Tx, of: ClaimedRows, claim: Claim): Claimed {
  const { turn, project } = of;
  const attempt = turn.attempt + 1;
  const leaseUntilMs = tx.nowMs + claim.leaseMs;
  const hashes = claim.hashes(attempt, project.epoch);
  const config = tx.configAt(turn.config_version);
  const backend =
    claim.engine === externalEngine ? externalEngine : backendOf(config, config.agents[turn.agent_id] ?? {});
  tx.insert('turn_attempts', {
    turn_id: turn.id,
    number: attempt,
    status: 'running',
    claim_id: claim.claimId,
    worker: claim.worker,
    credential: claim.credential ?? null,
    // A worker names its container engine before it knows what the turn needs.
    engine: backend === 'process' ? backend : claim.engine,
    lease_token_hash: hashes.lease,
    lease_until_ms: leaseUntilMs,
    started_at_ms: tx.nowMs,
  });
  if (attempt > 1) dropUncaptured(tx, turn.id);
  tx.run(
    `UPDATE turns SET status = 'running', attempt = :attempt, avoid_worker = NULL, waits_for = NULL, started_at_ms = coalesce(started_at_ms, :now)
     WHERE id = :turn`,
    { turn: turn.id, attempt, now: tx.nowMs },
  );
  tx.run('UPDATE agents SET token_hash = :hash WHERE id = :agent AND active_turn_id = :turn', {
    agent: turn.agent_id,
    turn: turn.id,
    hash: hashes.tool,
  });
  tx.emit({
    type: 'turn.started',
    actor: 'system',
    agent: turn.agent_id,
    turn: turn.id,
    data: {
      number: turn.number,
      attempt,
      worker: claim.worker,
      credential: claim.credential,
      backend,
      sinceQueuedMs: tx.nowMs - turn.queued_at_ms,
      sinceMessageMs: attempt === 1 ? tx.nowMs - oldestReadMs(tx, turn.id) : undefined,
    },
  });
  if (attempt === 1) noticeTurn(tx, { ...turn, attempt }, { notice: 'started' });
  return { ...claimed(tx, of, attempt), leaseUntilMs, repeated: false };
}

function claimed(
  tx: Tx,
  { turn, agent, project }: ClaimedRows,
  attempt: number,
): Omit<Claimed, 'leaseUntilMs' | 'repeated'> {
  const input = JSON.parse(turn.input_json ?? '{}') as FrozenInput;
  return {
    attempt,
    epoch: project.epoch,
    snapshot: (newestCapture(tx, turn.id) ?? agent).snapshot,
    input: { ...input, turn: { ...input.turn, attempt } },
  };
}

/** When the oldest message of a turn's prompt was written. */
function oldestReadMs(tx: Tx, turn: string): number {
  const row = tx.get<{ at: number | null }>(
    `SELECT min(created_at_ms) AS at FROM messages WHERE id IN (SELECT message_id FROM message_reads WHERE turn_id = :turn)`,
    { turn },
  );
  return row?.at ?? tx.nowMs;
}
