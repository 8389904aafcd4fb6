/** The largest file that a ToolHost stores, of a workspace and as an artifact. */
export const maxContentBytes = 256 * 1024 * 1024;
