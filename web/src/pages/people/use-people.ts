import type { ProfileSummary, Session, TeamSummary, Token } from '@suzumio/sdk/client';
import { useQuery } from '@tanstack/react-query';
import { api, keys } from '../../api.js';

/** They have no events: asked for again and again while they are looked at. */
const freshness = { staleTime: 5_000, refetchInterval: 20_000, refetchOnWindowFocus: true } as const;
/** Long lists are asked for where somebody comes to them. */
const listFreshness = { staleTime: 5_000, refetchOnWindowFocus: true } as const;

/** How many profiles, or teams, are shown at once. One more is read, which tells whether there are more. */
export const mostShown = 300;
const limit = mostShown + 1;

/** What acts on tokens and sessions change. */
export const accessKeys = [keys.tokens, keys.sessions, ['acts']] as const;
/** What acts on profiles and teams change. */
export const identityKeys = [keys.profiles, keys.teams] as const;

export function useSessions() {
  return useQuery({
    queryKey: keys.sessions,
    queryFn: async (): Promise<Session[]> => (await api.listSessions()).items,
    ...freshness,
  });
}

export function useTokens() {
  return useQuery({
    queryKey: keys.tokens,
    queryFn: async (): Promise<Token[]> => (await api.listTokens()).items,
    ...freshness,
  });
}

/** The first profiles that are not retired; or of those that are. */
export function useProfiles(retired: boolean) {
  return useQuery({
    queryKey: [...keys.profiles, retired],
    queryFn: async (): Promise<ProfileSummary[]> =>
      (await api.listProfiles({ query: { retired: retired ? 'true' : 'false', limit } })).items,
    ...listFreshness,
  });
}

export function useProfile(nickname: string) {
  return useQuery({
    queryKey: [...keys.profiles, 'one', nickname],
    queryFn: async () => (await api.getProfile({ profile: nickname })).profile,
    ...freshness,
  });
}

export function useTeams() {
  return useQuery({
    queryKey: keys.teams,
    queryFn: async (): Promise<TeamSummary[]> => (await api.listTeams({ query: { limit } })).items,
    ...listFreshness,
  });
}

/** @param name empty where there is none */
export function useTeam(name: string) {
  return useQuery({
    enabled: name !== '',
    queryKey: [...keys.teams, 'one', name],
    queryFn: () => api.getTeam({ team: name }),
    ...freshness,
  });
}
