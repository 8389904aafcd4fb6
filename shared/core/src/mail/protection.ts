import type { ProjectConfig } from '@suzumio/contract/model/project-config';

/** What an agent may do for how long without any effect; undefined where there is no bound. */
export interface ProtectionLimits {
  /** Turns of each within an hour in which two agents answer each other, while neither hears from others or makes anything. */
  exchanges: number | undefined;
  /** Turns within an hour in which an agent sends to the same place what hardly differs from what it sent before. */
  sameMail: number | undefined;
  /** Turns in a row from which nothing comes. */
  emptyTurns: number | undefined;
}

/** What holds where a project file says nothing: far beyond what work needs, and reached within minutes by a loop. */
export const defaultProtection = { exchanges: 60, sameMail: 120, emptyTurns: 30 } as const;

export const hourMs = 60 * 60 * 1000;

/** The limits of a project; undefined where it wants none. */
export function protectionOf({ protection }: Pick<ProjectConfig, 'protection'>): ProtectionLimits | undefined {
  if (protection === 'off') return undefined;
  const { exchanges, sameMail, emptyTurns } = { ...defaultProtection, ...protection };
  const limit = (value: number | 'off') => (value === 'off' ? undefined : value);
  return { exchanges: limit(exchanges), sameMail: limit(sameMail), emptyTurns: limit(emptyTurns) };
}
