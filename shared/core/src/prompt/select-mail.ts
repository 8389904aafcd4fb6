import type { Attachment } from '@suzumio/protocol/artifacts';
import type { Priority } from '@suzumio/protocol/ids';
import type { MessageKind } from '@suzumio/protocol/message-kind';
import { renderedAttachmentsBytes } from './attachments.js';
import { cutBody, renderedBodyBytes } from './body.js';

/** An unread message of one agent, to it or to one of its channels. */
export interface UnreadMessage {
  readonly id: string;
  readonly seq: number;
  readonly priority: Priority;
  readonly sender: string;
  readonly recipient?: string;
  readonly channel?: string;
  readonly kind: MessageKind;
  readonly threadId: string;
  /** The message that it answers. */
  readonly replyTo?: string;
  readonly body: string;
  readonly createdAtMs: number;
  /** Its attached artifacts. */
  readonly attachments: readonly Attachment[];
}

/** A message that goes into a prompt. `body` is only its beginning where `cut` is set. */
export interface SelectedMail extends UnreadMessage {
  readonly cut: boolean;
  /** UTF-8 bytes of the body that the prompt omits; `messages.read` has them. */
  readonly leftOutBytes: number;
}

/**
 * Selects the mail of one prompt: by priority, then by arrival, as many as `maxMessages` allows and as fit `maxBytes`
 * when rendered. No message overtakes one that did not fit. The first is always taken; if it is too long alone, it is
 * cut.
 */
export function selectMail(
  unread: readonly UnreadMessage[],
  limits: { readonly maxMessages: number; readonly maxBytes: number },
): SelectedMail[] {
  const [first, ...others] = [...unread].sort(byPriorityThenArrival);
  if (first === undefined) return [];

  const head = cutToFit(first, limits.maxBytes);
  const taken = [head];
  let bytes = renderedBytes(head);
  for (const message of others) {
    bytes += renderedBytes(message);
    if (taken.length >= limits.maxMessages || bytes > limits.maxBytes) break;
    taken.push({ ...message, cut: false, leftOutBytes: 0 });
  }
  return taken;
}

function cutToFit(message: UnreadMessage, maxBytes: number): SelectedMail {
  const body = cutBody(message.body, maxBytes - renderedAttachmentsBytes(message.attachments));
  const leftOutBytes = Buffer.byteLength(message.body.slice(body.length));
  return { ...message, body, cut: leftOutBytes > 0, leftOutBytes };
}

/** The size of a message in a prompt: everything that its sender chose. */
function renderedBytes({ body, attachments }: UnreadMessage): number {
  return renderedBodyBytes(body) + renderedAttachmentsBytes(attachments);
}

/** `P0` sorts before `P3` as text. */
function byPriorityThenArrival(a: UnreadMessage, b: UnreadMessage): number {
  if (a.priority !== b.priority) return a.priority < b.priority ? -1 : 1;
  return a.seq - b.seq;
}
