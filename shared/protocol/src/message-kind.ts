import * as z from 'zod';

/**
 * The kind of a message: plain mail to one agent (`direct`) or to a channel (`channel`), assigned work (`task`), an
 * answer to another message (`reply`), an announcement to a team or to all (`broadcast`), or a system notice (`event`).
 */
export const messageKinds = ['direct', 'channel', 'task', 'reply', 'broadcast', 'event'] as const;
export const messageKind = z.enum(messageKinds);
export type MessageKind = z.infer<typeof messageKind>;
