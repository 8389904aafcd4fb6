import type { ProjectConfig } from '@suzumio/contract/model/project-config';

/** How long agents may go on without any effect; undefined means no limit. */
export interface ProtectionLimits {
  /** Turns of each within an hour in which two agents only answer each other, without mail from others or effects. */
  exchanges: number | undefined;
  /** Turns within an hour in which an agent sends nearly the same mail to the same address. */
  sameMail: number | undefined;
  /** Consecutive turns without effect. */
  emptyTurns: number | undefined;
}

/** The defaults: far beyond what work needs, and reached within minutes by a loop. */
export const defaultProtection = { exchanges: 60, sameMail: 120, emptyTurns: 30 } as const;

export const hourMs = 60 * 60 * 1000;

/** The limits of a project; undefined where it turns them off. */
export function protectionOf({ protection }: Pick<ProjectConfig, 'protection'>): ProtectionLimits | undefined {
  if (protection === 'off') return undefined;
  const { exchanges, sameMail, emptyTurns } = { ...defaultProtection, ...protection };
  const limit = (value: number | 'off') => (value === 'off' ? undefined : value);
  return { exchanges: limit(exchanges), sameMail: limit(sameMail), emptyTurns: limit(emptyTurns) };
}
