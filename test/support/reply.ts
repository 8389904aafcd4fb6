/** What a scripted model says. */
export interface Reply {
  text?: string;
  calls?: { id?: string; name: string; arguments: unknown }[];
  finish?: string | null;
  usage?: { input: number; output: number } | null;
  /** Before the first byte. */
  delayMs?: number;
}
