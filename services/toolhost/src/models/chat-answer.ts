import { wireChunk } from './chat-wire.js';
import { noAnswer, readAnswer } from './no-answer.js';
import type { WireFormat } from './wire-format.js';

/** Chat Completions: the format in which answers are read anyway. */
export const chatFormat: WireFormat = {
  path: '/chat/completions',
  whole(body) {
    const chunk = readAnswer(wireChunk, body);
    if (!chunk.choices?.length) throw noAnswer(body);
    return [chunk];
  },
  events: () => (event) => [readAnswer(wireChunk, event)],
};
