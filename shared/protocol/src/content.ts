/** The largest file that a ToolHost stores, in a workspace or as an artifact. */
export const maxContentBytes = 256 * 1024 * 1024;

/** The longest body of a message, in bytes of UTF-8. */
export const maxMessageBytes = 256 * 1024;

/** The most attachments of one message. */
export const maxAttachments = 20;
