import type { ProfileView } from '../model/profile.js';

/** Where the profiles are that project files name. */
export interface ProfileRegistry {
  /** A profile, retired or not, by its nickname or its id. */
  find(name: string): ProfileView | undefined;
  /** Those that a new project may start from. */
  nicknames(): string[];
}

/** Where there are none. */
export const noProfiles: ProfileRegistry = { find: () => undefined, nicknames: () => [] };
