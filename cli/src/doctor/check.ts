/** What a check found. A condition that is broken says what to do about it. */
export interface Finding {
  /** What was looked at, in a word or two. */
  readonly what: string;
  readonly state: 'ok' | 'broken' | 'skipped';
  readonly detail: string;
  /** What mends it. */
  readonly remedy?: string;
}

export const ok = (what: string, detail: string): Finding => ({ what, state: 'ok', detail });
export const broken = (what: string, detail: string, remedy: string): Finding => ({
  what,
  state: 'broken',
  detail,
  remedy,
});
export const skipped = (what: string, detail: string): Finding => ({ what, state: 'skipped', detail });
