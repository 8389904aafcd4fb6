/** The largest file that a ToolHost stores, in a workspace or as an artifact. */
export const maxContentBytes = 256 * 1024 * 1024;
