import type { messages } from '@suzumio/contract/operations/messages';
import { USER_ID } from '@suzumio/contract/model/project-config';
import { listInbox, listMessages, listThread, messageCalled } from '@suzumio/store/mail/messages';
import { turnCalled } from '@suzumio/store/turns/read-turns';
import { readMessageDetail } from '@suzumio/store/turns/receipts';
import { agentRow } from '@suzumio/store/rows';
import { broadcast } from '@suzumio/store/mail/broadcast';
import { redactableMessage } from '@suzumio/store/redaction/redact-message';
import { listThreads } from '@suzumio/store/mail/threads';
import { mailCounts } from '@suzumio/store/mail/mail-counts';
import { redeliverMessage } from '@suzumio/store/mail/redeliver-message';
import { replyToMessage } from '@suzumio/store/mail/reply-to-message';
import type { EventHub } from '../events/event-hub.js';
import type { OpenAccess } from '../open-access.js';
import type { Runs } from '../routes.js';
import { redactNow } from './redact-now.js';
import { readIndexed } from './read-indexed.js';
import { postFromUser } from './mail.js';
import { waitForReply } from './wait-for-reply.js';

export const messageRuns = (hub: EventHub, access: OpenAccess): Runs<typeof messages> => ({
  listInbox: (call) =>
    call.read((reader) => {
      const { agent } = call.query;
      if (agent !== undefined) agentRow(reader, agent);
      return listInbox(reader, call.query);
    }),

  listMessages: (call) =>
    readIndexed(call, (reader) => {
      const { turn, ...page } = call.query;
      const id = turn === undefined ? undefined : turnCalled(reader, turn).id;
      return listMessages(reader, { ...page, turn: id });
    }),

  sendMessage: (call) => call.write((tx) => postFromUser(tx, call.body, call.actor)),

  replyToMessage: (call) =>
    call.write((tx) => {
      const message = messageCalled(tx, call.body.message).id;
      const posted = replyToMessage(tx, { ...call.body, message, sender: USER_ID, actor: call.actor });
      const { id, seq, recipients, busy, threadId, to } = posted;
      return { id, seq, recipients, busy, threadId, to };
    }),

  broadcast: (call) => call.write((tx) => ({ ...broadcast(tx, { ...call.body, sender: USER_ID, actor: call.actor }) })),

  countMail: (call) => call.read((reader) => ({ items: mailCounts(reader) })),

  getMessage: (call) => call.read((reader) => readMessageDetail(reader, call.params.message)),

  waitForReply: (call) => waitForReply(call, hub, access),

  redeliverMessage: (call) =>
    call.write((tx) => ({
      ...redeliverMessage(tx, call.params.message, { agent: call.body.agent, actor: call.actor }),
    })),

  redactMessage: (call) => redactNow(call, (reader) => redactableMessage(reader, call.params.message)),

  listThreads: (call) => call.read((reader) => listThreads(reader, call.query)),

  listThread: (call) => call.read((reader) => listThread(reader, call.params.thread, call.query)),
});
