import { redactedSentence, type Redaction } from '@suzumio/contract/model/redaction';
import { redactFrame } from '@suzumio/core/prompt/redact-frame';
import { Copies, redactedMark } from '@suzumio/core/redaction/copies';
import type { RedactObject } from '@suzumio/core/redaction/redact-json';
import { excerptOf } from '../mail/excerpt.js';
import { emptyIndex } from '../mail/index-messages.js';
import { messageCalled, type MessageRow } from '../mail/messages.js';
import { iso, parsed } from '../sqlite/page.js';
import type { SqlReader } from '../sqlite/sql.js';
import type { Tx } from '../sqlite/tx.js';
import type { Asked, Redactable, Redacted } from './redactable.js';
import { redactRows } from './redact-rows.js';
import type { Rewriting } from './redact-turn.js';

/**
 * A message whose body is to go. Its row stays, with sender, recipients, thread and time.
 *
 * @throws SuzumioError `message-unknown`
 */
export function redactableMessage(reader: SqlReader, name: string): Redactable {
  const { id, body, redacted_json } = messageCalled(reader, name);
  const copies = new Copies(body);
  return {
    id,
    redacted: parsed<Redaction>(redacted_json),
    patterns: [...copies.patterns, id],
    without: (text) => copies.without(text),
    redact: (tx, searched, asked) => redactMessage(tx, { id, copies, searched }, asked),
  };
}

function redactMessage(
  tx: Tx,
  { id, copies, searched }: { id: string; copies: Copies; searched: Parameters<typeof redactRows>[1] },
  { actor, because }: Asked,
): Redacted {
  const row = messageCalled(tx, id);
  const earlier = parsed<Redaction>(row.redacted_json);
  if (earlier) return { id, redacted: earlier };
  const redacted: Redaction = { at: iso(tx.nowMs), by: actor, because };
  const sentence = redactedSentence('message', redacted);
  emptyIndex(tx);
  tx.run('UPDATE messages SET body = :body, redacted_json = :redacted WHERE seq = :seq', {
    body: sentence,
    redacted: JSON.stringify(redacted),
    seq: row.seq,
  });
  redactRows(tx, searched, [...copies.patterns, id], rewriting(row, copies, sentence));
  tx.run('UPDATE projects SET wipes_due = wipes_due + 1');
  tx.emit({ type: 'message.redacted', actor, data: { message: id, seq: row.seq, because } });
  return { id, redacted };
}

/** What is known for the message by its id is replaced whatever its length, and what repeats it, where that is long enough. */
function rewriting({ id, body, turn_id: writer }: MessageRow, copies: Copies, sentence: string): Rewriting {
  const begin = `[${id} from `;
  const excerpt = excerptOf(body);
  const object =
    (byWriter: boolean): RedactObject =>
    (value) => {
      const { metadata } = value;
      if (typeof value['body'] === 'string' && isBodyOf(value, byWriter)) return { ...value, body: sentence };
      if (typeof value['excerpt'] === 'string' && [value['id'], value['message'], value['task']].includes(id)) {
        return { ...value, excerpt: redactedMark };
      }
      const isRead = isObject(metadata) && metadata['id'] === id && 'sender' in metadata;
      return isRead && 'output' in value ? { ...value, output: sentence } : value;
    };
  const isBodyOf = (value: Record<string, unknown>, byWriter: boolean) =>
    value['id'] === id || (byWriter && value['id'] === undefined && value['body'] === body);
  /** A line of a list of tasks. */
  const listed = (line: string) =>
    line.startsWith(`${id}  `) && line.endsWith(excerpt) ? line.slice(0, -excerpt.length) + redactedMark : line;
  const text = (written: string) => {
    if (!written.includes(id)) return copies.without(written);
    const framed = written.includes(begin) ? redactFrame(written, id, sentence) : written;
    return copies.without(framed.split('\n').map(listed).join('\n'));
  };
  return { text, object, writer };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
