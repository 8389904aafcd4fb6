import type { MessageDetail, MessageReceipt, MessageView } from '@suzumio/contract/model/message';
import { oneLine, visibleLines } from '@suzumio/core/prompt/body';
import type { CliContext } from '../cli-context.js';
import { paint } from './colors.js';
import { cut, dayAndTime, size } from './format.js';
import { readState } from './tables.js';
import { type Cell, table } from './table.js';

type Style = Pick<CliContext, 'out' | 'timeZone'>;

/** One message, with what became of it. */
export function renderMessage(message: MessageDetail, parent: MessageView | undefined, style: Style): string[] {
  const facts: [string, string][] = [
    ['message', `${message.seq}  (${message.id})`],
    ['from', message.sender + (message.actor === message.sender ? '' : `, by ${oneLine(message.actor)}`)],
    ['to', addressOf(message)],
    ['sent', `${dayAndTime(message.createdAt, style)}, ${message.priority}, ${message.kind}`],
    ...(parent === undefined ? [] : [['answers', `${parent.seq} from ${parent.sender}`] as [string, string]]),
    ...message.attachments.map((one): [string, string] => [
      'carries',
      `${oneLine(one.name)}, ${one.redacted ? 'redacted' : size(one.sizeBytes)}  (${one.id})`,
    ]),
  ];
  return [
    ...facts.map(([name, value]) => `${name.padEnd(9)}${value}`),
    '',
    ...receiptTable(message, style),
    '',
    ...indented(message.body, '  ', style),
  ];
}

function receiptTable({ receipts }: MessageDetail, { out, timeZone }: Style): string[] {
  if (receipts.length === 0) return ['It went to no agent.'];
  return table(
    ['AGENT', 'STATE', 'TURN', 'ATTEMPTS', 'READ', 'OUTCOME'],
    receipts.flatMap(({ agent, unread, reads }) => [
      ...reads.map((read): Cell[] => [
        agent,
        stateOf(read),
        `${agent}:${read.turnNumber}`,
        String(read.attempts.length),
        dayAndTime(read.readAt, { timeZone }),
        outcomeOf(read),
      ]),
      ...(unread ? [[agent, 'unread']] : []),
    ]),
    out,
  );
}

type Read = MessageReceipt['reads'][number];

function stateOf({ voidedAt, undelivered, status }: Read): Cell {
  if (voidedAt !== null) return ['given back', 'quiet'];
  if (undelivered) return ['undelivered', 'bad'];
  return status === 'completed' ? ['read', 'good'] : 'reading';
}

function outcomeOf({ status, failure }: Read): string {
  return failure === null ? status : `${status}: ${failure.code}: ${oneLine(failure.message)}`;
}

/** A thread as a conversation. */
export function renderThread(messages: readonly MessageView[], style: Style): string[] {
  const numbers = new Map(messages.map(({ id, seq }) => [id, seq]));
  const width = Math.max(...messages.map(({ seq }) => String(seq).length)) + 2;
  const colors = paint(style.out);
  return messages.flatMap((message, index) => {
    const parent = message.replyTo === null ? undefined : numbers.get(message.replyTo);
    const state = readState(message);
    const about = [
      parent === undefined ? message.kind : `${message.kind} to ${parent}`,
      message.priority,
      ...(message.recipients.length === 0 ? [] : [typeof state === 'string' ? state : state[0]]),
      ...message.attachments.map(({ name }) => `+${oneLine(name)}`),
    ];
    const number = String(message.seq).padEnd(width);
    const names = `${message.sender} -> ${addressOf(message)}`;
    const room = style.out.columns === undefined ? undefined : style.out.columns - number.length - names.length - 2;
    const more = cut(`${about.join(', ')}  ${dayAndTime(message.createdAt, style)}`, room);
    return [
      ...(index === 0 ? [] : ['']),
      `${number}${colors.cyan(names)}  ${colors.dim(more)}`,
      ...indented(message.body, ' '.repeat(width), style),
    ];
  });
}

function addressOf({ recipient, channel }: MessageView): string {
  return recipient ?? channel ?? '';
}

/** A text in lines that are no wider than what shows them, broken between words where that can be. */
function indented(text: string, indent: string, { out }: Style): string[] {
  const room = out.columns === undefined ? undefined : Math.max(20, out.columns - indent.length);
  return visibleLines(text.trimEnd())
    .flatMap((line) => (room === undefined ? [line] : wrapped(line, room)))
    .map((line) => `${indent}${line}`.trimEnd());
}

function wrapped(line: string, room: number): string[] {
  const lines: string[] = [];
  let rest = Array.from(line);
  while (rest.length > room) {
    const space = rest.slice(0, room + 1).lastIndexOf(' ');
    const end = space > 0 ? space : room;
    lines.push(rest.slice(0, end).join(''));
    rest = rest.slice(space > 0 ? end + 1 : end);
  }
  return [...lines, rest.join('')];
}
