import type { Message } from '@suzumio/sdk/client';

/** Whom an answer to a message is for; undefined where it cannot be answered. */
export function answerTo({ sender, recipient, channel }: Pick<Message, 'sender' | 'recipient' | 'channel'>) {
  if (sender === 'system') return undefined;
  if (sender !== 'user') return `agent:${sender}`;
  if (recipient !== null && recipient !== 'user') return `agent:${recipient}`;
  return channel?.startsWith('#') === true ? `channel:${channel}` : undefined;
}
