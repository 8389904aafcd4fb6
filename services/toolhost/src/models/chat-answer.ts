import { wireChunk, wireCompletion } from './chat-wire.js';
import { failureWithin } from './provider-failure.js';
import type { WireFormat } from './wire-format.js';

/** Chat Completions: the format in which answers are read anyway. */
export const chatFormat: WireFormat = {
  path: '/chat/completions',
  whole(body) {
    const parsed = wireCompletion.safeParse(body);
    if (!parsed.success) return undefined;
    const { model, usage, choices } = parsed.data;
    return [
      {
        model,
        usage,
        choices: choices.slice(0, 1).map(({ message, finish_reason }) => ({ index: 0, delta: message, finish_reason })),
      },
    ];
  },
  events: () => (event) => {
    const parsed = wireChunk.safeParse(event);
    if (!parsed.success) return undefined;
    const { object, error } = parsed.data;
    if (object === 'error') throw failureWithin(event);
    if (error !== undefined && error !== null) throw failureWithin(error);
    return [parsed.data];
  },
};
