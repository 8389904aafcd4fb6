import type { ProfileView } from '@suzumio/contract/model/profile';

/** The profiles that project files refer to. */
export interface ProfileRegistry {
  /** A profile, retired or not, by its nickname or its id. */
  find(name: string): ProfileView | undefined;
  /** The nicknames that a new project may start from. */
  nicknames(): string[];
}

/** The same for an existing project: its profiles may have been retired since. */
export function neverRetired(profiles: ProfileRegistry): ProfileRegistry {
  return {
    find: (name) => {
      const profile = profiles.find(name);
      return profile && { ...profile, retiredAt: null };
    },
    nicknames: () => profiles.nicknames(),
  };
}

/** A registry without profiles. */
export const noProfiles: ProfileRegistry = { find: () => undefined, nicknames: () => [] };
