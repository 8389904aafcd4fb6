import { type Client, createClient } from '@suzumio/contract/client/client';
import type { ProfileSummary, ProfileView, TeamSummary, TeamView } from '@suzumio/contract/model/profile';
import type { CreateProfileRequest, UpdateProfileRequest } from '@suzumio/contract/operations/profiles';
import type { CreateTeamRequest, UpdateTeamRequest } from '@suzumio/contract/operations/teams';
import { Catalog } from '@suzumio/store/cell/catalog';
import { systemContext } from '@suzumio/store/sqlite/context';
import { DataDirectory } from '@suzumio/store/cell/data-directory';
import type { Session } from '../session.js';
import { tokenFor } from './server-token.js';

/** Which profiles are shown. */
export interface WantedProfiles {
  readonly role?: string | undefined;
  readonly team?: string | undefined;
  readonly retired: boolean;
  readonly limit: number;
}

/** Profiles, and the teams that they are in. */
export interface ProfileKeeper {
  createProfile(profile: CreateProfileRequest): Promise<ProfileView>;
  profiles(wanted: WantedProfiles): Promise<ProfileSummary[]>;
  profile(name: string): Promise<ProfileView>;
  updateProfile(name: string, change: UpdateProfileRequest): Promise<ProfileView>;
  retireProfile(name: string): Promise<ProfileView>;
  createTeam(team: CreateTeamRequest): Promise<TeamView>;
  teams(limit: number): Promise<TeamSummary[]>;
  team(name: string): Promise<TeamView>;
  updateTeam(name: string, change: UpdateTeamRequest): Promise<TeamView>;
  deleteTeam(name: string): Promise<void>;
}

/**
 * Where profiles are kept: with a server that was asked for by name, else in the data directory, whose owner needs none,
 * whether a server runs or not.
 */
export async function findProfiles(session: Session): Promise<ProfileKeeper> {
  const { root, url } = session;
  if (url === undefined) return profilesInDirectory(root);
  return profilesOverHttp(createClient({ url, token: await tokenFor(session, url) }));
}

function profilesOverHttp(api: Client): ProfileKeeper {
  return {
    createProfile: async (body) => (await api.createProfile({ body })).profile,
    profiles: async ({ retired, ...wanted }) =>
      (await api.listProfiles({ query: { ...wanted, retired: retired ? 'true' : 'false' } })).items,
    profile: async (profile) => (await api.getProfile({ profile })).profile,
    updateProfile: async (profile, body) => (await api.updateProfile({ profile, body })).profile,
    retireProfile: async (profile) => (await api.retireProfile({ profile })).profile,
    createTeam: async (body) => (await api.createTeam({ body })).team,
    teams: async (limit) => (await api.listTeams({ query: { limit } })).items,
    team: async (team) => (await api.getTeam({ team })).team,
    updateTeam: async (team, body) => (await api.updateTeam({ team, body })).team,
    async deleteTeam(team) {
      await api.deleteTeam({ team });
    },
  };
}

/**
 * Profiles in the data directory itself, which needs no token: its owner may write it. Running servers see changes at
 * once.
 */
function profilesInDirectory(root: string): ProfileKeeper {
  const directory = new DataDirectory(root);
  async function withCatalog<Result>(body: (catalog: Catalog) => Promise<Result> | Result): Promise<Result> {
    directory.prepare();
    const catalog = Catalog.open(directory, systemContext());
    try {
      return await body(catalog);
    } finally {
      await catalog.close();
    }
  }
  // Reading creates no directory.
  const listed = async <Item>(list: (catalog: Catalog) => Item[]) => (directory.exists() ? withCatalog(list) : []);
  return {
    createProfile: (profile) => withCatalog(({ profiles }) => profiles.create(profile)),
    profiles: (wanted) => listed(({ profiles }) => profiles.list(wanted)),
    profile: (name) => withCatalog(({ profiles }) => profiles.get(name)),
    updateProfile: (name, change) => withCatalog(({ profiles }) => profiles.update(name, change)),
    retireProfile: (name) => withCatalog(({ profiles }) => profiles.retire(name)),
    createTeam: (team) => withCatalog(({ teams }) => teams.create(team)),
    teams: (limit) => listed(({ teams }) => teams.list({ limit })),
    team: (name) => withCatalog(({ teams }) => teams.get(name)),
    updateTeam: (name, change) => withCatalog(({ teams }) => teams.update(name, change)),
    deleteTeam: (name) => withCatalog(({ teams }) => teams.delete(name)),
  };
}
