import type { ProfileView } from '@suzumio/contract/model/profile';

/** Where the profiles are that project files name. */
export interface ProfileRegistry {
  /** A profile, retired or not, by its nickname or its id. */
  find(name: string): ProfileView | undefined;
  /** Those that a new project may start from. */
  nicknames(): string[];
}

/** The same, for a project that is there already: it may have started from profiles that were retired since. */
export function neverRetired(profiles: ProfileRegistry): ProfileRegistry {
  return {
    find: (name) => {
      const profile = profiles.find(name);
      return profile && { ...profile, retiredAt: null };
    },
    nicknames: () => profiles.nicknames(),
  };
}

/** Where there are none. */
export const noProfiles: ProfileRegistry = { find: () => undefined, nicknames: () => [] };
