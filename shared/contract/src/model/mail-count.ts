import * as z from 'zod';

const time = z.iso.datetime();

/** How much mail went one way. */
export const mailCount = z.object({
  sender: z.string().describe('An agent, `user` or `system`.'),
  recipient: z.string().nullable().describe('An agent or `user`; null where it went to a channel.'),
  channel: z.string().nullable(),
  messages: z.int(),
  lastAt: time.describe('When the last was sent.'),
});
export type MailCount = z.infer<typeof mailCount>;
