import * as z from 'zod';
import { messageLine } from './message.js';

/** How many messages of a thread are counted, its newest: an answer takes a bounded time. */
export const mostCountedInThread = 10_000;

/** A thread: how much is in it, how it began, and what came last. */
export const threadView = z.object({
  id: z.string().describe('That of the message which began it.'),
  seq: z.int().describe('The number of its last message: its place in the list.'),
  messages: z.int().describe('How many it has; of longer ones the newest 10,000 are counted.'),
  unread: z.int().describe('How many of them some agent has still to read.'),
  first: messageLine,
  last: messageLine,
});
export type ThreadView = z.infer<typeof threadView>;
