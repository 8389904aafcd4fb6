import type { AgentView } from '@suzumio/contract/model/agent';
import type { ArtifactView } from '@suzumio/contract/model/artifact';
import type { MessageView } from '@suzumio/contract/model/message';
import type { ReportView } from '@suzumio/contract/model/report';
import type { TaskView } from '@suzumio/contract/model/task';
import type { ThreadView } from '@suzumio/contract/model/thread';
import type { ToolCallView } from '@suzumio/contract/model/tool-call';
import type { TurnView } from '@suzumio/contract/model/turn';
import type { ProjectEvent } from '@suzumio/contract/model/event';
import { oneLine } from '@suzumio/core/prompt/body';
import type { Session } from '../session.js';
import { excerpt } from './excerpt.js';
import { count, dayAndTime, duration, shortHash, size } from './format.js';
import { type Cell, table, type Tone, type Toned } from './table.js';

export function messageTable(messages: readonly MessageView[], { context }: Session): string[] {
  const kinds = !messages.every(isPlain);
  return table(
    ['NO', 'TIME', 'FROM', 'TO', ...(kinds ? ['KIND'] : []), 'PRIO', 'READ', 'BODY'],
    messages.map((message) => [
      String(message.seq),
      dayAndTime(message.createdAt, context),
      message.sender,
      message.recipient ?? message.channel ?? '',
      ...(kinds ? [isPlain(message) ? '' : message.kind] : []),
      message.priority,
      readState(message),
      message.found ? excerpt(message.found, context.out) : oneLine(message.body),
    ]),
    context.out,
  );
}

/** Threads, by the numbers of their last messages. */
export function threadTable(threads: readonly ThreadView[], { context }: Session): string[] {
  return table(
    ['NO', 'LAST', 'FROM', 'TO', 'MESSAGES', 'UNREAD', 'BEGAN WITH'],
    threads.map(({ seq, messages, unread, first, last }) => [
      String(seq),
      dayAndTime(last.createdAt, context),
      last.sender,
      last.recipient ?? last.channel ?? '',
      String(messages),
      unread === 0 ? '-' : String(unread),
      oneLine(first.excerpt),
    ]),
    context.out,
  );
}

/** Whether it is plain mail. */
function isPlain({ kind }: MessageView): boolean {
  return kind === 'direct' || kind === 'channel';
}

/** The state of a message at its recipients, in a word. */
export function readState({ delivery: { recipients, read, undelivered } }: MessageView): Toned {
  if (recipients === 0) return '-';
  if (undelivered > 0) return ['undelivered', 'bad'];
  if (read === recipients) return ['read', 'quiet'];
  return read === 0 ? 'unread' : `${read} of ${recipients}`;
}

/** A message from the view of one recipient. */
export interface WaitingMail {
  readonly agent: string;
  readonly message: MessageView;
  /** What became of the turn that read it; undefined where it is unread. */
  readonly leftBy: string | undefined;
}

export function inboxTable(mail: readonly WaitingMail[], { context }: Session): string[] {
  const kinds = !mail.every(({ message }) => isPlain(message));
  const left = mail.some(({ leftBy }) => leftBy !== undefined);
  return table(
    ['NO', 'FOR', 'FROM', ...(kinds ? ['KIND'] : []), 'PRIO', 'TIME', ...(left ? ['READ BY'] : []), 'BODY'],
    mail.map(({ agent, message, leftBy }) => [
      String(message.seq),
      agent,
      message.sender + (message.channel === null ? '' : ` in ${message.channel}`),
      ...(kinds ? [isPlain(message) ? '' : message.kind] : []),
      message.priority,
      dayAndTime(message.createdAt, context),
      ...(left ? [leftBy ?? ''] : []),
      oneLine(message.body),
    ]),
    context.out,
  );
}

export function taskTable(tasks: readonly TaskView[], { context }: Session): string[] {
  return table(
    ['NO', 'ASSIGNED', 'BY', 'TO', 'ROLE', 'PRIO', 'STATE', 'TASK'],
    tasks.map((task) => [
      String(task.seq),
      dayAndTime(task.createdAt, context),
      task.assigner,
      task.assignee,
      oneLine(task.role) + (task.team === null ? '' : ` of ${task.team}`),
      task.priority,
      toned(task.state),
      task.found ? excerpt(task.found, context.out) : oneLine(task.excerpt),
    ]),
    context.out,
  );
}

export function turnTable(turns: readonly TurnView[], { context }: Session): string[] {
  return table(
    ['QUEUED', 'TURN', 'STATUS', 'ATTEMPT', 'TOOK', 'CALLS', 'OUTCOME'],
    turns.map((turn) => [
      dayAndTime(turn.queuedAt, context),
      `${turn.agent}:${turn.number}`,
      toned(turn.status),
      String(turn.attempt),
      took(turn.startedAt, turn.endedAt),
      String(turn.toolCalls),
      oneLine(turn.failure === null ? (turn.text ?? '') : `${turn.failure.code}: ${turn.failure.message}`),
    ]),
    context.out,
  );
}

export function toolCallTable(calls: readonly ToolCallView[], { context }: Session): string[] {
  return table(
    ['TIME', 'TURN', 'STEP', 'TOOL', 'OUTCOME', 'TOOK', 'INPUT'],
    calls.map((call) => [
      dayAndTime(call.startedAt, context),
      `${call.agent}:${call.turnNumber}`,
      call.step,
      call.tool,
      call.errorCode === null ? toned(call.status) : [call.errorCode, 'bad'],
      took(call.startedAt, call.endedAt),
      oneLine(JSON.stringify(call.input)),
    ]),
    context.out,
  );
}

export function agentTable(agents: readonly AgentView[], { context }: Session): string[] {
  return table(
    ['AGENT', 'NAME', 'ROLE', 'STATE', 'UNREAD', 'TURNS', 'TOOLS'],
    agents.map((agent) => [
      agent.id,
      oneLine(agent.displayName ?? ''),
      oneLine(agent.role),
      toned(agent.activeTurn?.status === 'queued' ? 'queued' : agent.stopping ? 'stopping' : agent.state),
      String(agent.unread),
      String(agent.turns),
      agent.tools.length === 0 ? '-' : agent.tools.join(', '),
    ]),
    context.out,
  );
}

export function reportTable(reports: readonly ReportView[], { context }: Session): string[] {
  return table(
    ['VERSION', 'SUBMITTED', 'BY', 'TURN', 'DECISION'],
    reports.map(({ version, createdAt, agent, turnNumber, decision }) => [
      String(version),
      dayAndTime(createdAt, context),
      agent,
      String(turnNumber),
      decision === null ? '-' : `${decisionWords[decision.kind]} by ${decision.by}`,
    ]),
    context.out,
  );
}

const decisionWords = { approved: 'approved', 'changes-requested': 'sent back' } as const;

export function artifactTable(artifacts: readonly ArtifactView[], { context }: Session): string[] {
  const isLatest = artifacts.some(({ versions }) => versions !== undefined);
  return table(
    ['TIME', 'NAME', ...(isLatest ? ['VERSIONS'] : []), 'KIND', 'BY', 'SIZE', 'SHA256', 'DESCRIPTION'],
    artifacts.map((artifact) => [
      dayAndTime(artifact.createdAt, context),
      oneLine(artifact.name),
      ...(isLatest ? [String(artifact.versions ?? '')] : []),
      artifact.kind === 'file' ? 'file' : `directory, ${count(artifact.files, 'file')}`,
      artifact.creator,
      size(artifact.sizeBytes),
      shortHash(artifact.sha256),
      artifact.redacted ? `redacted by ${oneLine(artifact.redacted.by)}` : oneLine(artifact.description ?? ''),
    ]),
    context.out,
  );
}

export function eventTable(events: readonly ProjectEvent[], { context }: Session): string[] {
  return table(
    ['TIME', 'ID', 'TYPE', 'ACTOR', 'AGENT', 'DATA'],
    events.map((event) => [
      dayAndTime(event.createdAt, context),
      event.id,
      event.type,
      oneLine(event.actor),
      event.agent ?? '',
      oneLine(JSON.stringify(event.data)),
    ]),
    context.out,
  );
}

const tones: Readonly<Record<string, Tone>> = {
  completed: 'good',
  succeeded: 'good',
  done: 'good',
  declined: 'bad',
  failed: 'bad',
  refused: 'bad',
  unknown: 'bad',
  stopped: 'warning',
  stopping: 'warning',
  cancelled: 'warning',
  quiet: 'quiet',
};

/** A state in its colour. */
function toned(state: string): Cell {
  const tone = tones[state];
  return tone === undefined ? state : [state, tone];
}

function took(from: string | null, to: string | null): string {
  return from === null || to === null ? '' : duration(Date.parse(to) - Date.parse(from));
}
