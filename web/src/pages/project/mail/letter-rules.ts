import { mailLimits, type Message } from '@suzumio/sdk/client';
import { api } from '../../../api.js';
import { type Attached, chosen, type Letter } from './deliver.js';
import type { Recipient } from './recipients.js';

/** A kept draft may be of an older page. */
export function checked(letter: Letter): Letter {
  const files = letter.files.filter(
    (file: Partial<Attached> | null) =>
      typeof file?.key === 'string' && typeof file.name === 'string' && typeof file.size === 'number',
  );
  return files.length === letter.files.length ? letter : { ...letter, files };
}

/** Whom the person wrote to last. */
export function lastWrittenTo(shown: readonly Message[], all: readonly Recipient[]): Recipient | undefined {
  const last = [...shown].reverse().find(({ sender, kind }) => sender === 'user' && kind !== 'broadcast');
  const id = last?.channel === null ? `agent:${last.recipient}` : `channel:${last?.channel}`;
  return all.find((one) => one.id === id) ?? all[0];
}

/** Why it cannot be sent; undefined where it can. */
export function problemOf({ body, files }: Letter): string | undefined {
  if (!/\S/.test(body)) return 'There is nothing to send: a message needs a text.';
  const size = new TextEncoder().encode(body).length;
  if (size > mailLimits.textBytes) {
    return `The text has ${size.toLocaleString('en')} bytes, and a message has ${mailLimits.textBytes.toLocaleString('en')} at most. Attach it as a file.`;
  }
  const lost = files.find(({ id, key }) => id === undefined && !chosen.has(key));
  return lost && `${lost.name} was attached before the page was loaded anew. Choose it again, or remove it.`;
}

type Options = Parameters<typeof api.sendMessage>[1];

/** Asks the server to send it. */
export function ask(
  project: string,
  answers: Message | undefined,
  { address }: Recipient,
  { priority, body: text }: Letter,
  ids: readonly string[],
  options: Options,
) {
  const body = { priority, body: text, ...(ids.length === 0 ? {} : { attachments: [...ids] }) };
  if ('announce' in address) {
    const team = address.team === undefined ? {} : { team: address.team };
    return api.broadcast({ project, body: { ...team, ...body } }, options);
  }
  if (answers === undefined) return api.sendMessage({ project, body: { ...address, ...body } }, options);
  return api.replyToMessage({ project, body: { message: answers.id, ...address, ...body } }, options);
}
