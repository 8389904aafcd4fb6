/** What a scripted model says. */
export interface Reply {
  text?: string;
  calls?: { id?: string; name: string; arguments: unknown }[];
  finish?: string | null;
  /** With the provider's own fields beside it, as they are. */
  usage?: { input: number; output: number; [field: string]: unknown } | null;
  /** Before the first byte. */
  delayMs?: number;
}
