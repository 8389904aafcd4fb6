import * as z from 'zod';
import { maxAttachments } from '@suzumio/protocol/content';
import { priority } from '@suzumio/protocol/ids';
import { messageBody } from '@suzumio/protocol/message-body';
import { plainText } from '@suzumio/protocol/plain-text';

/** A name in a tool's input. */
export const name = plainText.min(1).max(200);

/** The fields of every tool that writes mail. */
export const messageFields = {
  priority: priority.default('P1').describe('P0 is the most urgent, P3 the least.'),
  body: messageBody,
  attachments: z
    .array(name)
    .max(maxAttachments)
    .optional()
    .describe('Published artifacts to point the reader to: their ids, or names (the newest of that name).'),
};
