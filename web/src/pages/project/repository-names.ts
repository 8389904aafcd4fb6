/** A branch or a tag as Git shows it. */
export const shortName = (ref: string): string => ref.replace(/^refs\/(?:heads|tags)\//, '');

export const shortId = (id: string): string => id.slice(0, 10);

/** What somebody asked for, shortly: a name, or a commit. */
export const shortly = (asked: string): string => (/^[0-9a-f]{40}$/.test(asked) ? shortId(asked) : shortName(asked));

/** The branch that others begin at. */
export const mainBranch = 'refs/heads/main';

/** What is compared. */
export interface Asked {
  /** A branch, a tag or a commit; without it, everything is new. */
  from?: string | undefined;
  to: string;
  /** Whether with what both have in common. */
  common: boolean;
}
