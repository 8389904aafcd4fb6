import type { Command } from 'commander';
import type { MessageView, TurnView } from '@suzumio/shared/model/views';
import { oneLine, visibleLines } from '@suzumio/shared/prompt/body';
import { findReads } from '../reach/reach.js';
import type { ProjectReads } from '../reach/project-reads.js';
import { dayAndTime, duration, shortHash, size } from '../render/format.js';
import { table } from '../render/table.js';
import { renderTurn } from '../render/turn.js';
import { sayJson, say, type Session } from '../session.js';
import type { Register } from './action.js';
import { wholeNumber } from './arguments.js';

export const registerReads: Register = (program, action) => {
  const listed = (name: string, description: string) =>
    program
      .command(name)
      .description(description)
      .argument('<project>')
      .option('--limit <n>', 'how many of the newest to show', wholeNumber(1, 1000), 50);

  listed('messages', 'list mail').action(action(list('messages', messageTable)));
  const turns: Command = listed('turns', 'list turns, or show one').action(action(list('turns', turnTable)));
  turns
    .command('show <project> <turn>')
    .description('show everything about one turn, by its id or as AGENT:NUMBER')
    .action(action(showTurn));
  listed('artifacts', 'list published files').action(action(list('artifacts', artifactTable)));
  listed('events', 'list what happened').action(action(list('events', eventTable)));
  program
    .command('report <project>')
    .description('print the report, the newest or one version of it')
    .option('--report-version <n>', 'an earlier version', wholeNumber(1, 1_000_000))
    .action(action(report));
};

type Listed = 'messages' | 'turns' | 'artifacts' | 'events';
type Rows<Kind extends Listed> = Awaited<ReturnType<ProjectReads[Kind]>>;

/** A command that shows one kind of thing as a table. */
function list<Kind extends Listed>(kind: Kind, toTable: (rows: Rows<Kind>, session: Session) => string[]) {
  return async (session: Session, project: string, { limit }: { limit: number }): Promise<undefined> => {
    const reads = await findReads(session);
    const rows = (await reads[kind](project, limit)) as Rows<Kind>;
    sayJson(session, rows);
    if (rows.length === 0) say(session, `${project} has no ${kind} yet.`);
    else say(session, ...toTable(rows, session));
  };
}

function messageTable(messages: readonly MessageView[], { context }: Session): string[] {
  return table(
    ['TIME', 'FROM', 'TO', 'PRIORITY', 'READ', 'BODY'],
    messages.map((message) => [
      dayAndTime(message.createdAt, context),
      message.sender,
      message.recipient ?? message.channel ?? '',
      message.priority,
      readState(message),
      oneLine(message.body),
    ]),
    context.out,
  );
}

function readState({ recipients }: MessageView): string {
  if (recipients.length === 0) return '-';
  const read = recipients.filter(({ turn }) => turn !== null).length;
  return read === recipients.length ? 'read' : read === 0 ? 'unread' : `${read} of ${recipients.length}`;
}

function turnTable(turns: readonly TurnView[], { context }: Session): string[] {
  return table(
    ['QUEUED', 'TURN', 'STATUS', 'ATTEMPT', 'TOOK', 'CALLS', 'OUTCOME'],
    turns.map((turn) => [
      dayAndTime(turn.queuedAt, context),
      `${turn.agent}:${turn.number}`,
      turn.status,
      String(turn.attempt),
      turn.startedAt === null || turn.endedAt === null
        ? ''
        : duration(Date.parse(turn.endedAt) - Date.parse(turn.startedAt)),
      String(turn.toolCalls),
      oneLine(turn.failure === null ? (turn.text ?? '') : `${turn.failure.code}: ${turn.failure.message}`),
    ]),
    context.out,
  );
}

function artifactTable(artifacts: Rows<'artifacts'>, { context }: Session): string[] {
  return table(
    ['TIME', 'NAME', 'BY', 'SIZE', 'SHA256', 'DESCRIPTION'],
    artifacts.map((artifact) => [
      dayAndTime(artifact.createdAt, context),
      oneLine(artifact.name),
      artifact.creator,
      size(artifact.sizeBytes),
      shortHash(artifact.sha256),
      oneLine(artifact.description ?? ''),
    ]),
    context.out,
  );
}

function eventTable(events: Rows<'events'>, { context }: Session): string[] {
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

async function showTurn(session: Session, project: string, name: string): Promise<undefined> {
  const turn = await (await findReads(session)).turn(project, name);
  sayJson(session, turn);
  say(session, ...renderTurn(turn, session.context));
}

async function report(session: Session, project: string, options: { reportVersion?: number }): Promise<undefined> {
  const reads = await findReads(session);
  const text = await reads.report(project, options.reportVersion);
  if (session.json)
    sayJson(session, {
      project,
      version: options.reportVersion ?? (await reads.detail(project)).project.reportVersion,
      text,
    });
  else {
    // For a pipe as it is; for a terminal without what could steer it.
    session.context.out.write(session.context.out.isTerminal ? `${visibleLines(text.trimEnd()).join('\n')}\n` : text);
  }
}
