import * as z from 'zod';

/**
 * What a message is: plain mail to one agent (`direct`) or to a channel (`channel`), work that was assigned (`task`), an
 * answer to another message (`reply`), an announcement to a team or to all (`broadcast`), or a notice from the system
 * itself (`event`).
 */
export const messageKinds = ['direct', 'channel', 'task', 'reply', 'broadcast', 'event'] as const;
export const messageKind = z.enum(messageKinds);
export type MessageKind = z.infer<typeof messageKind>;

/** The longest body of a message, in bytes of UTF-8. */
export const maxMessageBytes = 256 * 1024;
