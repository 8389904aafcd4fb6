import type { EventType } from '@suzumio/contract/model/event';
import type { ReplyAnswer } from '@suzumio/contract/model/reply';
import type { messages } from '@suzumio/contract/operations/messages';
import { eventPosition } from '@suzumio/store/projects/events';
import { readReply } from '@suzumio/store/turns/read-reply';
import type { Call } from '../call.js';
import type { EventHub } from '../events/event-hub.js';
import type { Frame } from '../events/follower.js';
import type { OpenAccess } from '../open-access.js';
import { waitSignal } from './wait-signal.js';

/** After each of these, a reply that could have come may not be expected any more. */
const endings: ReadonlySet<EventType> = new Set<EventType>([
  'turn.completed',
  'turn.failed',
  'turn.cancelled',
  'agent.stopped',
  'project.submitted',
  'project.completed',
  'project.stopped',
]);

/** Answers once a message has a reply, or none is expected. The events only say when to look again. */
export async function waitForReply(
  call: Call<typeof messages.waitForReply>,
  hub: EventHub,
  access: OpenAccess,
): Promise<ReplyAnswer> {
  const { project, message } = call.params;
  const look = () => call.read((reader) => ({ answer: readReply(reader, message), position: eventPosition(reader) }));
  const allowed = access.of(call.response);
  const signal = waitSignal(call.response, allowed, call.query.timeout);
  for (;;) {
    const { answer, position } = await look();
    allowed.throwIfAborted();
    if (answer.state !== 'waiting' || signal.aborted) return answer;
    const isNews = ({ type, answers }: Frame) =>
      answers === answer.message || (type !== undefined && endings.has(type)) || undefined;
    await hub.waitFor(project, position, isNews, signal);
  }
}
