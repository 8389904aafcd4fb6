import { maxMessageBytes } from './content.js';
import { plainText } from './plain-text.js';

/** The body of mail that an agent or its toolpack writes. */
export const messageBody = plainText
  .min(1)
  .refine((body) => Buffer.byteLength(body) <= maxMessageBytes, `at most ${String(maxMessageBytes)} bytes`);
